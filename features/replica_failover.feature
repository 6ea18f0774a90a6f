@serial @counts @replicas
Feature: Lose a replica
  The replicas share the projects, and the others take over the projects of a killed replica. One of
  the two examples kills the replica that has the projects. This is fault K in docs/reliability.md.

  Scenario Outline: A killed replica
    Given a namespace in project "north" and one of the same name in project "south"
    And in project "north" Workload "before" runs with
      | placement | cities | replicas |
      | main      | DFW    | 1        |
    When the clock is started
    And replica <replica> is killed
    And the other replicas take over from it
    Then at most 10 seconds have passed
    When in project "north" the consumer creates Workload "after" with
      | placement | cities | replicas |
      | main      | ORD    | 1        |
    And in project "south" the consumer creates Workload "after" with
      | placement | cities | replicas |
      | main      | ORD    | 1        |
    Then in project "north" Workload "after" becomes available with 1 ready Instances
    And in project "south" Workload "after" becomes available with 1 ready Instances
    And in project "north" Workload "before" becomes available with 1 ready Instances
    And instance "before-main-dfw-0" in cell "dfw" was not replaced
    When replica <replica> is started
    Then in project "north" Workload "before" becomes available with 1 ready Instances
    And instance "before-main-dfw-0" in cell "dfw" was not replaced

    Examples:
      | replica |
      | 0       |
      | 1       |

@serial
Feature: Lose a replica
  Projects are shared among the replicas; a replica that is killed leaves its projects to the others. Whichever has
  the projects, one of the two examples kills it.

  Scenario Outline: A killed replica
    Given a namespace of one name in projects "north" and "south"
    And in project "north" Workload "before" runs with
      | placement | cities | replicas |
      | main      | DFW    | 1        |
    When replica <replica> is killed
    And the consumer creates in project "north" Workload "after" with
      | placement | cities | replicas |
      | main      | ORD    | 1        |
    And the consumer creates in project "south" Workload "after" with
      | placement | cities | replicas |
      | main      | ORD    | 1        |
    Then in project "north" Workload "after" becomes available with 1 ready Instances
    And in project "south" Workload "after" becomes available with 1 ready Instances
    And in project "north" Workload "before" still runs the same Instances
    When replica <replica> is started again
    Then in project "north" Workload "before" still runs the same Instances

    Examples:
      | replica |
      | 0       |
      | 1       |

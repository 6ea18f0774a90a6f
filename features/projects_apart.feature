Feature: Projects do not see each other
  Two projects may use the same names for everything.

  Scenario: Equal names in two projects
    Given a namespace of one name in projects "north" and "south"
    When the consumer creates in project "north" Workload "web" with
      | placement | cities | replicas |
      | main      | DFW    | 1        |
    And the consumer creates in project "south" Workload "web" with
      | placement | cities | replicas |
      | main      | DFW    | 2        |
    Then in project "north" Workload "web" becomes available with 1 ready Instances
    And in project "south" Workload "web" becomes available with 2 ready Instances
    And the projects have hub namespaces of their own
    When the consumer deletes in project "north" Workload "web"
    Then in project "north" nothing is left
    And in project "south" Workload "web" becomes available with 2 ready Instances

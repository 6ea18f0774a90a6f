@serial
Feature: Quiet when settled
  A federation with nothing to do makes no writes. Leases are not counted: they are a heartbeat of each replica, and
  their number does not grow with what runs.

  Scenario: No write anywhere for 30 seconds
    Given a namespace in project "north"
    And Workload "web" runs with
      | placement | cities   | replicas |
      | main      | DFW, ORD | 2        |
    And nothing in the federation has been written by the add-on for 5 seconds
    When 30 seconds pass
    Then the add-on has written nothing to the hub, the cells and the project
    When the consumer changes Workload "web" to
      | placement | cities   | replicas |
      | main      | DFW, ORD | 3        |
    And Workload "web" becomes available with 6 ready Instances
    Then the add-on has written to the hub, the cells and the project

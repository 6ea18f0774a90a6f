@serial @replicas
Feature: Quiet when settled
  A settled federation makes no writes. Only the replicas renew their Leases, with less than one write a second,
  independent of the number of Instances.

  Scenario: No write anywhere for 30 seconds
    Given a namespace in project "north"
    And Workload "web" runs with
      | placement | cities   | replicas |
      | main      | DFW, ORD | 2        |
    And nothing in the federation has been written by the add-on for 5 seconds
    When 30 seconds pass
    Then the add-on has written nothing to the hub, the cells and the project
    And the replicas have renewed Leases on the hub, and less than once a second
    When the consumer changes Workload "web" to
      | placement | cities   | replicas |
      | main      | DFW, ORD | 3        |
    And Workload "web" becomes available with 6 ready Instances
    Then the add-on has written to the hub, the cells and the project

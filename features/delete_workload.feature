Feature: Delete a Workload
  Nothing outlives the Workload: not in the project, not on the hub, not in a cell.

  Background:
    Given a namespace in project "north"

  Scenario: Everything goes
    Given Workload "web" runs with
      | placement | cities   | replicas |
      | main      | DFW, ORD | 2        |
    When the consumer deletes Workload "web"
    Then the project has nothing of the namespace
    And the hub has nothing of the namespace
    And cell "dfw" has not even the namespace
    And cell "ord" has not even the namespace

  Scenario: A Workload made again under the same name is a new one
    Given Workload "web" runs with
      | placement | cities | replicas |
      | main      | DFW    | 1        |
    When the consumer deletes Workload "web"
    And the project has nothing of the namespace
    Then the consumer creates Workload "web" with
      | placement | cities | replicas |
      | main      | DFW    | 1        |
    And Workload "web" becomes available with 1 ready Instances
    And Instance "web-main-dfw-0" in cell "dfw" was replaced

  Scenario: A project that is deleted takes everything with it
    Given a project of its own that may use DFW
    And Workload "web" runs with
      | placement | cities | replicas |
      | main      | DFW    | 1        |
    When the project is deleted
    Then the project is gone
    And the hub has nothing of the namespace
    And cell "dfw" has not even the namespace

  Scenario: A project made again under the same name is another project
    Given a project of its own that may use DFW
    And Workload "web" runs with
      | placement | cities | replicas |
      | main      | DFW    | 1        |
    When the project is deleted
    And the project is gone
    And the project is made again
    And the consumer creates Workload "web" with
      | placement | cities | replicas |
      | main      | DFW    | 1        |
    Then Workload "web" becomes available with 1 ready Instances
    And the hub namespace says that it comes from the project

  @serial
  Scenario: A cell that is down during the deletion is cleaned when it comes back
    Given Workload "web" runs with
      | placement | cities   | replicas |
      | main      | DFW, ORD | 1        |
    When cell "dfw" goes down
    And the consumer deletes Workload "web"
    Then the project has nothing of the namespace
    And cell "ord" has not even the namespace
    When cell "dfw" comes back
    Then cell "dfw" has not even the namespace
    And the hub has nothing of the namespace

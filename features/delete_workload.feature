@deletion
Feature: Delete a Workload
  Nothing of a deleted Workload remains in the project, on the hub or in a cell.

  Background:
    Given a namespace in project "north"

  @core @main
  Scenario: Everything is deleted
    Given Workload "web" runs with
      | placement | cities   | replicas |
      | main      | DFW, ORD | 2        |
    And Workload "orphaned" runs with
      | placement | cities | replicas |
      | main      | DFW    | 1        |
    When the consumer deletes workload "web"
    And the consumer deletes workload "orphaned" with --cascade=orphan
    Then the project has nothing of the namespace
    And the hub has nothing of the namespace
    And cell "dfw" has nothing of the namespace
    And cell "ord" has nothing of the namespace

  Scenario: A Workload that is recreated under the same name is another Workload
    Given Workload "web" runs with
      | placement | cities | replicas |
      | main      | DFW    | 1        |
    When the consumer deletes workload "web"
    And the project has nothing of the namespace
    Then the consumer creates Workload "web" with
      | placement | cities | replicas |
      | main      | DFW    | 1        |
    And Workload "web" becomes available with 1 ready Instances
    And instance "web-main-dfw-0" in cell "dfw" was replaced

  Scenario: Everything of a deleted project is deleted
    Given a project of its own that may use DFW
    And Workload "web" runs with
      | placement | cities | replicas |
      | main      | DFW    | 1        |
    When an operator deletes project "${project}" in Milo
    Then project "${project}" in Milo is gone
    And the hub has nothing of the namespace
    And cell "dfw" has nothing of the namespace

  Scenario: A project that is recreated under the same name is another project
    Given a project of its own that may use DFW
    And Workload "web" runs with
      | placement | cities | replicas |
      | main      | DFW    | 1        |
    When an operator deletes project "${project}" in Milo
    And project "${project}" in Milo is gone
    And the project is recreated
    And the consumer creates Workload "web" with
      | placement | cities | replicas |
      | main      | DFW    | 1        |
    Then Workload "web" becomes available with 1 ready Instances
    And namespace "${hubNamespace}" on the hub has
      | metadata.labels['meta.datumapis.com/upstream-cluster-name']  | cluster-${project} |
      | metadata.labels['meta.datumapis.com/upstream-namespace']     | ${namespace}       |
      | metadata.labels['compute.datumapis.com/project-uid']         | ${projectUID}      |
      | metadata.labels['namespace.karmada.io/skip-auto-propagation'] | true              |

  Scenario: A cell that is down during a deletion delays no other cell, and is cleaned up when it returns
    Given the federation has cells "iad-1, iad-2"
    And cell "iad-2" does not serve the city
    And a namespace in project "south"
    And project "south" may use IAD
    And Workload "web" runs with
      | placement | cities   | replicas |
      | main      | IAD, ORD | 1        |
    When cell "iad-1" goes down
    And the consumer deletes workload "web"
    Then the project has nothing of the namespace
    And cell "ord" has nothing of the namespace
    When cell "iad-2" serves IAD
    And the consumer creates Workload "next" with
      | placement | cities | replicas |
      | main      | IAD    | 1        |
    Then Workload "next" becomes available with 1 ready Instances
    And cell "iad-2" runs 1 Instances
    When the consumer deletes workload "next"
    And cell "iad-1" returns
    Then cell "iad-1" has nothing of the namespace
    And cell "iad-2" has nothing of the namespace
    And the hub has nothing of the namespace

@pages
Feature: Commands of the documentation
  Each command of a page prints what the page shows. The commands of docs/how-to/install.md are in install.feature.

  Scenario: A consumer's first Workload
    Given a namespace in project "north"
    Then the commands of page "docs/tutorial/first-workload.md" print what it says

  @namespaces
  Scenario: Without Milo
    Given a namespace of the hub that is a project
    Then the commands of page "docs/how-to/without-milo.md" print what it says

  @serial
  Scenario: An operator's first city
    Given the federation has cells "iad-1"
    And a project of its own
    And cell "iad-1" belongs to no city
    And cluster "iad-1" on the hub has no condition ComputeAgentReady
    And namespace "karmada-compute-system" in cell "iad-1" is gone
    Then the commands of page "docs/tutorial/first-city.md" print what it says

  Scenario: How-to pages and runbooks on a working federation
    Given a namespace in project "north"
    And Workload "web" runs with
      | placement | cities | replicas |
      | texas     | DFW    | 2        |
    Then the commands of page "docs/runbooks/admission.md" print what it says
    And the commands of page "docs/runbooks/audit.md" print what it says
    And the commands of page "docs/runbooks/cells.md" print what it says
    And the commands of page "docs/runbooks/certificates.md" print what it says
    And the commands of page "docs/runbooks/controllers.md" print what it says
    And the commands of page "docs/runbooks/deletion.md" print what it says
    And the commands of page "docs/runbooks/hub.md" print what it says
    And the commands of page "docs/runbooks/instance-types.md" print what it says
    And the commands of page "docs/runbooks/inventory.md" print what it says
    And the commands of page "docs/runbooks/lost-node.md" print what it says
    And the commands of page "docs/runbooks/milo.md" print what it says
    And the commands of page "docs/runbooks/project-gone.md" print what it says
    And the commands of page "docs/runbooks/project-suspended.md" print what it says
    And the commands of page "docs/runbooks/quota.md" print what it says
    And the commands of page "docs/runbooks/status-lag.md" print what it says
    And the commands of page "docs/how-to/command.md" print what it says

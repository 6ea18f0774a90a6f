@pages
Feature: Commands of the documentation
  Each command of a page prints what the page shows. The commands of docs/how-to/install.md are in install.feature.

  @core
  Scenario: A consumer's first Workload
    Given a namespace in project "north"
    Then the commands of page "docs/tutorial/first-workload.md" print the output that the page shows

  # The hub and its host are contexts of one kubeconfig, as Karmada's hack/local-up-karmada.sh writes it.
  @namespaces @serial
  Scenario: The README installs the add-on, runs a first Workload, and removes everything
    Given the federation has cells "member1"
    And cell "member1" belongs to no city
    And the commands of "docs/how-to/without-milo.md" under "Disable" are run
    And deployment "karmada-system/karmada-compute" on the host is gone
    Then the commands of page "README.md" print the output that the page shows, with a kubeconfig of Karmada's documentation
    And deployment "karmada-system/karmada-compute" on the host is gone
    And namespace "karmada-compute-system" in cell "member1" is gone
    And cluster "member1" on the hub has no condition ComputeAgentReady

  @namespaces
  Scenario: Without Milo
    Given a namespace of the hub that is a project
    Then the commands of page "docs/how-to/without-milo.md" print the output that the page shows

  @serial
  Scenario: An operator's first city
    Given the federation has cells "iad-1"
    And a project of its own
    And cell "iad-1" belongs to no city
    And cluster "iad-1" on the hub has no condition ComputeAgentReady
    And namespace "karmada-compute-system" in cell "iad-1" is gone
    Then the commands of page "docs/tutorial/first-city.md" print the output that the page shows

  # The load balancers of the cells are configured by the commands of docs/how-to/addresses.md. features/names.feature runs the ones about
  # a Gateway.
  Scenario: Consumers expose a Workload
    Given a namespace in project "north"
    And cells "dfw, ord" have load balancers, and a DNS server answers the names of Workloads
    Then the commands of page "docs/how-to/addresses.md" print the output that the page shows
    And name "shop-${namespace}-${project}.apps.example.com" has the addresses of cells "dfw, ord"
    And the commands of page "docs/how-to/names.md" print the output that the page shows
    And name "www.shop.example.com" has the addresses of cells "dfw, ord"

  Scenario: How-to pages and runbooks on a working federation
    Given a namespace in project "north"
    And Workload "web" runs with
      | placement | cities | replicas |
      | texas     | DFW    | 2        |
    Then the commands of page "docs/runbooks/admission.md" print the output that the page shows
    And the commands of page "docs/runbooks/audit.md" print the output that the page shows
    And the commands of page "docs/runbooks/cells.md" print the output that the page shows
    And the commands of page "docs/runbooks/certificates.md" print the output that the page shows
    And the commands of page "docs/runbooks/controllers.md" print the output that the page shows
    And the commands of page "docs/runbooks/deletion.md" print the output that the page shows
    And the commands of page "docs/runbooks/hub.md" print the output that the page shows
    And the commands of page "docs/runbooks/instance-types.md" print the output that the page shows
    And the commands of page "docs/runbooks/inventory.md" print the output that the page shows
    And the commands of page "docs/runbooks/leaving.md" print the output that the page shows
    And the commands of page "docs/runbooks/lost-city.md" print the output that the page shows
    And the commands of page "docs/runbooks/lost-node.md" print the output that the page shows
    And the commands of page "docs/runbooks/milo.md" print the output that the page shows
    And the commands of page "docs/runbooks/project-gone.md" print the output that the page shows
    And the commands of page "docs/runbooks/project-suspended.md" print the output that the page shows
    And the commands of page "docs/runbooks/quota.md" print the output that the page shows
    And the commands of page "docs/runbooks/sessions.md" print the output that the page shows
    And the commands of page "docs/runbooks/status-lag.md" print the output that the page shows
    And the commands of page "docs/how-to/convert.md" print the output that the page shows
    And the commands of page "docs/how-to/command.md" print the output that the page shows
    And the commands of page "docs/how-to/drain.md" print the output that the page shows
    And the commands of page "docs/how-to/rollouts.md" print the output that the page shows
    And the commands of page "docs/how-to/services.md" print the output that the page shows

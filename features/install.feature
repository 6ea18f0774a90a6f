@serial @install
Feature: Install by karmadactl
  These are the commands of docs/how-to/install.md.

  Scenario: A dry run prints the manifests
    When the commands of "docs/how-to/install.md" under "Look before" are run
    Then file "manifests.yaml" of the commands has
      | kind: ClusterPropagationPolicy |
      | kind: CustomResourceDefinition |
      | kind: PodDisruptionBudget      |
    And deployment "karmada-system/karmada-compute" on the host exists

  Scenario: Values are changed and restored
    Given a namespace in project "north"
    And Workload "web" runs with
      | placement | cities | replicas |
      | main      | DFW    | 1        |
    When the consumer creates 20 Workloads a second
    And the commands of "docs/how-to/install.md" under "Upgrade" are run
    Then deployment "karmada-system/karmada-compute" on the host has "status.readyReplicas" "3"
    When the commands of "docs/how-to/install.md" under "Roll back" are run
    Then deployment "karmada-system/karmada-compute" on the host has "status.replicas" "2"
    And none of them was refused
    And instance "web-main-dfw-0" in cell "dfw" was not replaced

  Scenario: The city of a cell is removed and set again
    Given the federation has cells "iad-1"
    And a namespace in project "north"
    And project "north" may use IAD
    And Workload "web" runs with
      | placement | cities | replicas |
      | main      | IAD    | 2        |
    When the commands of "docs/how-to/install.md" under "Remove a cell" are run
    Then cell "iad-1" runs 0 Instances
    And cluster "iad-1" on the hub has no condition ComputeAgentReady
    And namespace "karmada-compute-system" in cell "iad-1" is gone
    And clusterrole "karmada-compute-cell" in cell "iad-1" is gone
    And customresourcedefinition "instances.compute.datumapis.com" in cell "iad-1" has "spec.names.kind" "Instance"
    When the commands of "docs/how-to/install.md" under "Add a cell" are run
    Then Workload "web" becomes available with 2 ready Instances
    And cluster "iad-1" on the hub has condition ComputeAgentReady True because of "AgentReady"

  Scenario: Disable refuses while a Workload runs, and otherwise leaves nothing
    Given a namespace in project "north"
    And Workload "web" runs with
      | placement | cities | replicas |
      | main      | DFW    | 1        |
    When the commands of "docs/how-to/install.md" under "Disable" fail with "WorkloadDeployments exist on the hub"
    Then instance "web-main-dfw-0" in cell "dfw" was not replaced
    When the consumer deletes workload "web"
    And the hub has nothing of the namespace
    And the commands of "docs/how-to/install.md" under "Disable" are run
    Then deployment "karmada-system/karmada-compute" on the host is gone
    And secret "karmada-system/karmada-compute-config" on the host is gone
    And secret "karmada-system/karmada-compute-milo" on the host is gone
    And configmap "karmada-system/karmada-compute-addon" on the host is gone
    And validatingwebhookconfiguration "karmada-compute" in Milo is gone
    And clusterrole "karmada-compute-project" in Milo is gone
    And clusterrole "karmada-compute-hub" on the hub is gone
    And secret "karmada-system/karmada-compute-webhook-ca" on the hub is gone
    And secret "karmada-system/karmada-compute-webhook-path" on the hub is gone
    And configmap "karmada-system/karmada-compute-project-north" on the hub is gone
    And configmap "karmada-system/karmada-compute-milo" on the hub is gone
    And serviceaccount "karmada-system/karmada-compute" on the hub is gone
    And namespace "karmada-compute-system" on the hub is gone
    And namespace "karmada-compute-system" in cell "dfw" is gone
    And namespace "karmada-compute-system" in cell "ord" is gone
    When the commands of "docs/how-to/install.md" under "Enable" are run
    Then the commands print "| karmada-compute             | enabled  |"
    And Workload "web" runs with
      | placement | cities | replicas |
      | main      | DFW    | 1        |

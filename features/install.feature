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

  Scenario: Webhooks run in Pods of their own, each replica on a node of its own
    Given the host has another node
    And a namespace in project "north"
    When the consumer creates 20 Workloads a second
    And the commands of "docs/how-to/install.md" under "Webhooks in Pods of their own" are run
    Then Deployment "karmada-compute" has 2 ready Pods, each on a node of its own
    And Deployment "karmada-compute-webhook" has 2 ready Pods, each on a node of its own
    # A rollout needs no other node.
    When an operator patches deployment "karmada-system/karmada-compute-webhook" on the host with {"spec":{"template":{"metadata":{"annotations":{"example.com/new":"yes"}}}}}
    Then Deployment "karmada-compute-webhook" has 2 ready Pods, each on a node of its own
    When an operator patches deployment "karmada-system/karmada-compute-webhook" on the host with {"spec":{"replicas":3}}
    Then Deployment "karmada-compute-webhook" has 2 ready Pods, each on a node of its own, and 1 without a node
    When an operator patches deployment "karmada-system/karmada-compute" on the host with {"spec":{"replicas":0}}
    Then deployment "karmada-system/karmada-compute" on the host has no "status.replicas"
    When the consumer creates Workload "web" with
      | placement | cities | replicas |
      | main      | DFW    | 1        |
    And the consumer tries to create Workload "other" with
      | placement | cities | replicas |
      | main      | XXX    | 1        |
    Then that is refused with "spec.placements[0].cityCodes[0]"
    When the commands of "docs/how-to/install.md" under "Roll back" are run
    Then deployment "karmada-system/karmada-compute-webhook" on the host is gone
    And deployment "karmada-system/karmada-compute" on the host has "status.readyReplicas" "2"
    And Workload "web" becomes available with 1 ready Instances
    And none of them was refused

  Scenario: The city of a cell is removed and set again
    Given the federation has cells "iad-1, iad-2"
    And cell "iad-2" does not serve the city
    And a namespace in project "north"
    And project "north" may use IAD
    And Workload "web" runs with
      | placement | cities | replicas |
      | main      | IAD    | 2        |
    When the commands of "docs/how-to/install.md" under "Remove a cell" are run
    Then cell "iad-1" runs 0 Instances
    And workloaddeployment "web-main-iad" has condition Available False because of "NoMatchingLocation"
    And the project has no instances
    And cluster "iad-1" on the hub has no condition ComputeAgentReady
    And namespace "karmada-compute-system" in cell "iad-1" is gone
    And clusterrole "karmada-compute-cell" in cell "iad-1" is gone
    And customresourcedefinition "instances.compute.datumapis.com" in cell "iad-1" has "spec.names.kind" "Instance"
    When the commands of "docs/how-to/install.md" under "Add a cell" are run
    Then Workload "web" becomes available with 2 ready Instances
    And cluster "iad-1" on the hub has condition ComputeAgentReady True because of "AgentReady"

  # Its agent has a token for this object: another object of its name makes the token invalid, and a kubelet renews it only after 80 % of its lifetime.
  Scenario: A cell that loses its city for a moment keeps the ServiceAccount of its agent
    Given a namespace in project "north"
    And serviceaccount "karmada-compute-system/karmada-compute-cell" in cell "dfw" exists
    # karmada-scheduler takes one binding after the other from the cluster. When the city returns before it is done, the Deployment stays.
    When process "karmada-scheduler" is killed
    And an operator patches resourcebinding "karmada-compute-system/karmada-compute-cell-serviceaccount" on the hub with {"spec":{"clusters":null}}
    Then work "karmada-es-dfw/karmada-compute-cell-5678447944" on the hub is gone
    When process "karmada-scheduler" is started again
    Then work "karmada-es-dfw/karmada-compute-cell-5678447944" on the hub exists
    And serviceaccount "karmada-compute-system/karmada-compute-cell" in cell "dfw" was not replaced
    And cluster "dfw" on the hub has condition ComputeAgentReady True because of "AgentReady"

  Scenario: Disable refuses while a Workload runs, and otherwise leaves nothing, also in a cell that was off
    Given a namespace in project "north"
    And Workload "web" runs with
      | placement | cities | replicas |
      | main      | DFW    | 1        |
    When the commands of "docs/how-to/install.md" under "Disable" fail with "WorkloadDeployments exist on the hub"
    Then instance "web-main-dfw-0" in cell "dfw" was not replaced
    When the consumer deletes workload "web"
    And the hub has nothing of the namespace
    And cell "ord" goes down
    And the commands of "docs/how-to/install.md" under "Disable" are run
    Then the commands print "stays on the hub, since Karmada does not reach the cell"
    And deployment "karmada-system/karmada-compute" on the host is gone
    And secret "karmada-system/karmada-compute-config" on the host is gone
    And secret "karmada-system/karmada-compute-milo" on the host is gone
    And configmap "karmada-system/karmada-compute-addon" on the host is gone
    And validatingwebhookconfiguration "karmada-compute" in Milo is gone
    And clusterrole "karmada-compute-project" in Milo is gone
    And clusterrole "karmada-compute-hub" on the hub is gone
    And secret "karmada-system/karmada-compute-webhook-ca" on the hub is gone
    And secret "karmada-system/karmada-compute-webhook-path" on the hub is gone
    And secret "karmada-system/karmada-compute-data-key" on the hub is gone
    And configmap "karmada-system/karmada-compute-project-north" on the hub is gone
    And configmap "karmada-system/karmada-compute-milo" on the hub is gone
    And serviceaccount "karmada-system/karmada-compute" on the hub is gone
    And namespace "karmada-compute-system" on the hub is gone
    And namespace "karmada-compute-system" in cell "dfw" is gone
    When cell "ord" returns
    Then namespace "karmada-compute-system" in cell "ord" is gone
    When the commands of "docs/how-to/install.md" under "Enable" are run
    Then the commands print "| karmada-compute             | enabled  |"
    And Workload "web" runs with
      | placement | cities | replicas |
      | main      | DFW    | 1        |

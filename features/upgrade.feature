@serial @upgrade
Feature: From one version to the next, and back
  The version before this one is the last tag. Without a tag the scenario is skipped and says so; `make features TAGS=@upgrade
  EARLIER=<revision>` runs it with any revision.

  Scenario: Nothing that runs restarts, and nothing is refused
    Given the version before this one is built
    And the add-on is of the version before
    And cluster "dfw" on the hub has condition ComputeAgentReady True because of "AgentReady"
    And a namespace in project "north"
    And Workload "web" runs with
      | placement | cities | replicas |
      | main      | DFW    | 2        |
    And "metadata.uid" of pod "web-main-dfw-0" in cell "dfw" is remembered as "POD"
    And "spec.template.spec.containers[0].image" of deployment "karmada-compute-system/karmada-compute-cell" in cell "dfw" is remembered as "AGENT"
    When the consumer creates 20 Workloads a second
    And the add-on is of this version
    And deployment "karmada-compute-system/karmada-compute-cell" in cell "dfw" has another "spec.template.spec.containers[0].image" than "${AGENT}"
    And cluster "dfw" on the hub has condition ComputeAgentReady True because of "AgentReady"
    And Workload "web" is scaled to 4 and settles
    Then instance "web-main-dfw-0" in cell "dfw" was not replaced
    When the add-on is of the version before
    And cluster "dfw" on the hub has condition ComputeAgentReady True because of "AgentReady"
    And deployment "karmada-compute-system/karmada-compute-cell" in cell "dfw" has "spec.template.spec.containers[0].image" "${AGENT}"
    And Workload "web" is scaled to 3 and settles
    Then none of them was refused
    And instance "web-main-dfw-0" in cell "dfw" was not replaced
    And pod "web-main-dfw-0" in cell "dfw" has "metadata.uid" "${POD}"

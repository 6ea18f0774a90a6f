@serial @upgrade
Feature: Rollback and upgrade
  The previous version is the last tag, or without tags the commit before the present one. A clone that does
  not have it skips the scenario with a message. `make features TAGS=@upgrade EARLIER=<revision>` selects another version. The
  federation starts with this version, so the scenario begins with a rollback.

  Scenario: No Instance restarts, and no request is refused
    Given the previous version is built
    And a namespace in project "north"
    And Workload "new" runs with
      | placement | cities | replicas |
      | main      | DFW    | 1        |
    And "metadata.uid" of pod "new-main-dfw-0" in cell "dfw" is remembered as "NEW"
    And "spec.template.spec.containers[0].image" of deployment "karmada-system/karmada-compute" on the host is remembered as "REPLICA"
    And "spec.template.spec.containers[0].image" of deployment "karmada-compute-system/karmada-compute-cell" in cell "dfw" is remembered as "AGENT"
    When the consumer creates 20 Workloads a second
    And the add-on runs the previous version
    Then deployment "karmada-system/karmada-compute" on the host has another "spec.template.spec.containers[0].image" than "${REPLICA}"
    And deployment "karmada-compute-system/karmada-compute-cell" in cell "dfw" has another "spec.template.spec.containers[0].image" than "${AGENT}"
    And cluster "dfw" on the hub has condition ComputeAgentReady True because of "AgentReady"
    When Workload "new" is scaled to 2 and settles
    And Workload "old" runs with
      | placement | cities | replicas |
      | main      | DFW    | 1        |
    And "metadata.annotations['compute.datumapis.com/federation-namespace']" of workloaddeployment "old-main-dfw" is remembered as "PLACE"
    And "metadata.uid" of pod "${PLACE}/old-main-dfw-0" in cell "dfw" is remembered as "OLD"
    And the add-on runs this version
    Then deployment "karmada-compute-system/karmada-compute-cell" in cell "dfw" has "spec.template.spec.containers[0].image" "${AGENT}"
    And cluster "dfw" on the hub has condition ComputeAgentReady True because of "AgentReady"
    When Workload "old" is scaled to 2 and settles
    And Workload "new" is scaled to 1 and settles
    Then none of them was refused
    And instance "new-main-dfw-0" in cell "dfw" was not replaced
    And pod "new-main-dfw-0" in cell "dfw" has "metadata.uid" "${NEW}"
    And pod "${PLACE}/old-main-dfw-0" in cell "dfw" has "metadata.uid" "${OLD}"

@audit
Feature: Audit of the path to the cells
  Karmada reacts to events and can miss some. The add-on compares states along the path of a deployment and repairs differences,
  without a restart of any Instance.

  Background:
    Given a namespace in project "north"

  Scenario: The binding of an earlier deployment with the same name is repaired
    Given Workload "web" runs with
      | placement | cities | replicas |
      | main      | DFW    | 1        |
    And workloaddeployment "web-main-dfw" has condition StatusCurrent True
    When an operator patches resourcebinding "web-main-dfw-workloaddeployment" on the hub with {"spec":{"resource":{"uid":"00000000-0000-0000-0000-000000000000"}}}
    Then resourcebinding "web-main-dfw-workloaddeployment" on the hub has another "spec.resource.uid" than "00000000-0000-0000-0000-000000000000"
    When Workload "web" is scaled to 2 and settles
    Then instance "web-main-dfw-0" in cell "dfw" was not replaced
    And workloaddeployment "web-main-dfw" has condition StatusCurrent True

  @core
  Scenario: A binding that was deleted by hand is recreated
    Given Workload "web" runs with
      | placement | cities | replicas |
      | main      | DFW    | 1        |
    When an operator deletes resourcebinding "web-main-dfw-workloaddeployment" on the hub
    Then resourcebinding "web-main-dfw-workloaddeployment" on the hub becomes another one
    And Workload "web" becomes available with 1 ready Instances
    And workloaddeployment "web-main-dfw" has condition StatusCurrent True

  @core
  Scenario: A Work that was edited by hand is restored
    Given Workload "web" runs with
      | placement | cities | replicas |
      | main      | DFW    | 2        |
    And "metadata.annotations['work.karmada.io/name']" of workloaddeployment "web-main-dfw" in cell "dfw" is remembered as "WORK"
    And cell "dfw" runs 2 Instances
    When an operator patches work "karmada-es-dfw/${WORK}" on the hub with [{"op":"replace","path":"/spec/workload/manifests/0/spec/scaleSettings/minReplicas","value":3}]
    Then workloaddeployment "web-main-dfw" in cell "dfw" has "spec.scaleSettings.minReplicas" "3"
    And workloaddeployment "web-main-dfw" in cell "dfw" has "spec.scaleSettings.minReplicas" "2"
    And cell "dfw" runs 2 Instances
    And none of the Instances in cell "dfw" was replaced

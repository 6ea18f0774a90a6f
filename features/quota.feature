@quota
Feature: Quota
  Where quota is configured, an Instance starts only when its project's quota is granted, and holds a claim exactly as long as it
  exists.

  @core @main
  Scenario: Instances within the quota start; the others name the missing quota and start when it is raised
    Given a project of its own with quota for 1 Instances
    When the consumer creates Workload "web" with
      | placement | cities | replicas |
      | main      | DFW    | 2        |
    Then instance "web-main-dfw-1" has condition QuotaGranted False, saying "compute.datumapis.com/instances: an Instance needs 1, 0 of 1 are left"
    And cell "dfw" runs exactly the Pods "web-main-dfw-0"
    And "metadata.uid" of instance "web-main-dfw-0" in cell "dfw" is remembered as "FIRST"
    And "metadata.uid" of pod "web-main-dfw-0" in cell "dfw" is remembered as "POD"
    And the project has exactly the resourceclaims "instance-web-main-dfw-0"
    When the project gets quota for 4 Instances
    Then Workload "web" becomes available with 2 ready Instances
    And the project has exactly the resourceclaims "instance-web-main-dfw-0, instance-web-main-dfw-1"
    And instance "web-main-dfw-0" in cell "dfw" has "metadata.uid" "${FIRST}"
    When the consumer patches workload "web" with {"spec":{"template":{"metadata":{"annotations":{"compute.datumapis.com/restartedAt":"now"}}}}}
    Then pod "web-main-dfw-0" in cell "dfw" has another "metadata.uid" than "${POD}"
    And Workload "web" becomes available with 2 ready Instances
    When Workload "web" is scaled to 4 and settles
    And Workload "web" is scaled to 1 and settles
    Then the project has exactly the resourceclaims "instance-web-main-dfw-0"
    And cell "dfw" runs exactly the Pods "web-main-dfw-0"
    When the consumer deletes workload "web"
    Then the project has no resourceclaims

  @serial @long
  Scenario: After kills in the middle of changes of the scale, claims and Instances match one to one
    Given a project of its own with quota for 6 Instances
    When the consumer creates Workload "web" with
      | placement | cities | replicas |
      | main      | DFW    | 2        |
    Then Workload "web" becomes available with 2 ready Instances
    When the consumer patches workload "web" with [{"op":"replace","path":"/spec/placements/0/scaleSettings/minReplicas","value":5}]
    And process "karmada-controller-manager" is killed
    And the consumer patches workload "web" with [{"op":"replace","path":"/spec/placements/0/scaleSettings/minReplicas","value":1}]
    And the agent of cell "dfw" is killed
    And the consumer patches workload "web" with [{"op":"replace","path":"/spec/placements/0/scaleSettings/minReplicas","value":6}]
    And the consumer patches workload "web" with [{"op":"replace","path":"/spec/placements/0/scaleSettings/minReplicas","value":3}]
    And replica 0 is killed
    And replica 1 is killed
    And process "karmada-controller-manager" is started again
    Then cell "dfw" runs exactly the Pods "web-main-dfw-0, web-main-dfw-1, web-main-dfw-2"
    And the project has exactly the resourceclaims "instance-web-main-dfw-0, instance-web-main-dfw-1, instance-web-main-dfw-2"
    And Workload "web" becomes available with 3 ready Instances
    When the consumer deletes workload "web"
    Then the project has no resourceclaims

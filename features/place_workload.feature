Feature: Place a Workload
  A consumer names cities. The add-on keeps one deployment per placement and city, and gives the reason for each city without a
  deployment.

  Background:
    Given a namespace in project "north"

  @core @main
  Scenario: A deployment per placement and city
    When the consumer creates Workload "web" with
      | placement | cities   | replicas |
      | main      | DFW, ORD | 1        |
      | extra     | ord      | 2        |
    Then the project has exactly the workloaddeployments
      | name          | spec.cityCode | spec.scaleSettings.minReplicas |
      | web-main-dfw  | DFW  | 1        |
      | web-main-ord  | ORD  | 1        |
      | web-extra-ord | ORD  | 2        |
    And Workload "web" becomes available with 4 ready Instances

  Scenario: The deployments of a removed placement are deleted
    Given Workload "web" runs with
      | placement | cities | replicas |
      | main      | DFW    | 1        |
      | extra     | ORD    | 1        |
    When the consumer changes Workload "web" to
      | placement | cities | replicas |
      | main      | DFW    | 1        |
    Then the project has exactly the workloaddeployments
      | name         | spec.cityCode | spec.scaleSettings.minReplicas |
      | web-main-dfw | DFW  | 1        |
    And the project has exactly the instances "web-main-dfw-0"

  Scenario: A city whose location is withdrawn keeps its Instances and gets no new ones until the location returns
    Given a project of its own that may use DFW, ORD
    And project "${project}" may use AMS
    And the consumer creates Workload "web" with
      | placement | cities   | replicas |
      | main      | DFW, AMS | 1        |
    And the project has exactly the workloaddeployments
      | name         | spec.cityCode | spec.scaleSettings.minReplicas |
      | web-main-dfw | DFW  | 1        |
      | web-main-ams | AMS  | 1        |
    When project "${project}" may no longer use AMS
    Then placement "main" of Workload "web" reports "the project may not use AMS now"
    And the project has exactly the workloaddeployments
      | name         | spec.cityCode | spec.scaleSettings.minReplicas |
      | web-main-dfw | DFW  | 1        |
      | web-main-ams | AMS  | 1        |
    When an operator patches workloaddeployment "web-main-ams" with {"metadata":{"annotations":{"compute.datumapis.com/break-glass":"a scenario"}}}
    And an operator deletes workloaddeployment "web-main-ams"
    Then the project has exactly the workloaddeployments
      | name         | spec.cityCode | spec.scaleSettings.minReplicas |
      | web-main-dfw | DFW  | 1        |
    And placement "main" of Workload "web" reports "it may use DFW, ORD"
    When project "${project}" may use AMS
    Then the project has exactly the workloaddeployments
      | name         | spec.cityCode | spec.scaleSettings.minReplicas |
      | web-main-dfw | DFW  | 1        |
      | web-main-ams | AMS  | 1        |
    And workloaddeployment "web-main-ams" has condition Available False because of "NoMatchingLocation"

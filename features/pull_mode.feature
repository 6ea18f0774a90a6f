@customization
Feature: A cell in pull mode
  A cell in pull mode cannot reach the host. Its karmada-agent gets Works from the hub and interprets and reports their status
  itself, without the add-on's webhooks.

  Background:
    Given cell "lhr" is in pull mode and cannot reach the webhooks
    And a namespace in project "south"
    And project "south" may use LHR

  @core
  Scenario: A Workload is created, scaled and deleted
    Given Workload "web" runs with
      | placement | cities | replicas |
      | main      | LHR    | 2        |
    Then Workload "web" becomes available with 2 ready Instances
    And cell "lhr" runs exactly the Pods "web-main-lhr-0, web-main-lhr-1"
    And the Instances in the project show the addresses of their Pods
    When the consumer changes Workload "web" to
      | placement | cities | replicas |
      | main      | LHR    | 3        |
    Then Workload "web" becomes available with 3 ready Instances
    And instance "web-main-lhr-0" in cell "lhr" was not replaced
    When the consumer deletes workload "web"
    Then the project has nothing of the namespace
    And the hub has nothing of the namespace
    And cell "lhr" has nothing of the namespace

  Scenario: The cell is lost and returns
    Given Workload "web" runs with
      | placement | cities | replicas |
      | main      | LHR    | 1        |
    When cell "lhr" goes down
    Then cluster "lhr" on the hub has condition Ready not True
    And instance "web-main-lhr-0" has condition Ready Unknown, saying "cell lhr"
    And workloaddeployment "web-main-lhr" has condition StatusCurrent False, saying "cell lhr"
    And workload "web" has condition Available Unknown
    When cell "lhr" returns
    Then cluster "lhr" on the hub has condition Ready True
    And instance "web-main-lhr-0" has condition Ready True
    And workloaddeployment "web-main-lhr" has condition StatusCurrent True
    And cell "lhr" is in pull mode and cannot reach the webhooks
    When the consumer changes Workload "web" to
      | placement | cities | replicas |
      | main      | LHR    | 2        |
    Then Workload "web" becomes available with 2 ready Instances
    And instance "web-main-lhr-0" in cell "lhr" was not replaced

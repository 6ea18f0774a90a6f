Feature: Propagate to the cell of the city
  Karmada carries a deployment from the hub to a cell of its city, and to no other.

  Background:
    Given a namespace in project "north"

  @core @main
  Scenario: The hub has a namespace, a copy and a policy, and only the cell of the city has the deployment
    When the consumer creates Workload "web" with
      | placement | cities | replicas |
      | main      | DFW    | 1        |
    Then namespace "${hubNamespace}" on the hub has
      | metadata.labels['meta.datumapis.com/upstream-cluster-name']   | cluster-${project} |
      | metadata.labels['meta.datumapis.com/upstream-namespace']      | ${namespace}       |
      | metadata.labels['compute.datumapis.com/project-uid']          | ${projectUID}      |
      | metadata.labels['namespace.karmada.io/skip-auto-propagation'] | true               |
    And the hub has exactly the workloaddeployments "web-main-dfw"
    And workloaddeployment "web-main-dfw" on the hub still has "metadata.labels['topology.datum.net/city-code']" "dfw"
    And workloaddeployment "web-main-dfw" on the hub still has "metadata.labels['compute.datumapis.com/workload-uid']"
    And the hub has exactly the propagationpolicies "independent-city-dfw"
    And cell "dfw" has exactly the workloaddeployments "web-main-dfw"
    And cell "ord" has nothing of the namespace

  @core @main
  Scenario: A namespace that disappears from a cell is recreated with its objects
    Given Workload "web" runs with
      | placement | cities | replicas |
      | main      | DFW    | 1        |
    When an operator patches namespace "${hubNamespace}" in cell "dfw" with {"metadata":{"annotations":{"compute.datumapis.com/break-glass":"a scenario"}}}
    And an operator deletes namespace "${hubNamespace}" in cell "dfw"
    Then instance "web-main-dfw-0" in cell "dfw" becomes another one
    And Workload "web" becomes available with 1 ready Instances

  Scenario: A policy is created with the first deployment of its city and deleted with the last
    Given Workload "one" runs with
      | placement | cities   | replicas |
      | main      | DFW, ORD | 1        |
    And Workload "two" runs with
      | placement | cities | replicas |
      | main      | DFW    | 1        |
    And the hub has exactly the propagationpolicies "independent-city-dfw, independent-city-ord"
    When the consumer deletes workload "one"
    Then the hub has exactly the propagationpolicies "independent-city-dfw"
    And cell "ord" has nothing of the namespace
    And cell "dfw" has exactly the workloaddeployments "two-main-dfw"
    When the consumer deletes workload "two"
    Then the hub has nothing of the namespace
    And cell "dfw" has nothing of the namespace

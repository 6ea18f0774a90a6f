Feature: Propagate to the cell of the city
  Karmada carries a deployment from the hub to a cell of its city, and to no other.

  Background:
    Given a namespace in project "north"

  Scenario: The hub has a namespace, a copy and a policy, and only the cell of the city has the deployment
    When the consumer creates Workload "web" with
      | placement | cities | replicas |
      | main      | DFW    | 1        |
    Then the hub namespace says that it comes from the project
    And the hub has exactly the deployments "web-main-dfw"
    And the hub deployment "web-main-dfw" is labelled with city "dfw"
    And the hub has exactly the policies "city-dfw"
    And cell "dfw" has exactly the deployments "web-main-dfw"
    And cell "ord" has not even the namespace

  Scenario: A namespace that vanishes from a cell is made again, and what was in it
    Given Workload "web" runs with
      | placement | cities | replicas |
      | main      | DFW    | 1        |
    When the namespace in cell "dfw" is deleted by hand
    Then Instance "web-main-dfw-0" in cell "dfw" becomes another one
    And Workload "web" becomes available with 1 ready Instances

  Scenario: A policy is made with the first deployment of its city and goes with the last
    Given Workload "one" runs with
      | placement | cities   | replicas |
      | main      | DFW, ORD | 1        |
    And Workload "two" runs with
      | placement | cities | replicas |
      | main      | DFW    | 1        |
    And the hub has exactly the policies "city-dfw, city-ord"
    When the consumer deletes Workload "one"
    Then the hub has exactly the policies "city-dfw"
    And cell "ord" has not even the namespace
    And cell "dfw" has exactly the deployments "two-main-dfw"
    When the consumer deletes Workload "two"
    Then the hub has nothing of the namespace
    And cell "dfw" has not even the namespace

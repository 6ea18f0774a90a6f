Feature: Report status into the project
  What runs in a cell is seen in the project, through Karmada's work status alone.

  Background:
    Given a namespace in project "north"

  @timed
  Scenario: Counts and Instances are in the project within seconds of the cell
    When the consumer creates Workload "web" with
      | placement | cities   | replicas |
      | main      | DFW, ORD | 2        |
    Then every Instance is Ready in the project at most 30 seconds after its cell
    And Workload "web" becomes available with 4 ready Instances
    And workload "web" has only current conditions
    And the Instances in the project show the addresses of their Pods

  @status
  Scenario: What a consumer does to a projected Instance is refused or put back
    Given Workload "web" runs with
      | placement | cities | replicas |
      | main      | DFW    | 1        |
    When the consumer tries to patch instance "web-main-dfw-0" with {"spec":{"runtime":{"sandbox":{"containers":[{"name":"app","image":"docker.io/library/evil:1"}]}}}}
    Then that is refused with "change the Workload"
    When the add-on patches instance "web-main-dfw-0" with {"spec":{"runtime":{"sandbox":{"containers":[{"name":"app","image":"docker.io/library/evil:1"}]}}}}
    Then every instance in the project has "spec.runtime.sandbox.containers[0].image" "docker.io/library/nginx:1.27"
    When the add-on patches instance "web-main-dfw-0" with {"spec":{"volumes":[{"name":"added","configMap":{"name":"added"}}]}}
    Then instance "web-main-dfw-0" has no "spec.volumes"
    When the consumer deletes instance "web-main-dfw-0"
    Then instance "web-main-dfw-0" becomes another one
    And the project has exactly the instances "web-main-dfw-0"
    And instance "web-main-dfw-0" in cell "dfw" was not replaced

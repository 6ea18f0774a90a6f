@status
Feature: Report status into the project
  What runs in a cell is seen in the project, through Karmada's work status alone.

  Background:
    Given a namespace in project "north"

  @serial
  Scenario: Counts and Instances are in the project within seconds of the cell
    When the consumer creates Workload "web" with
      | placement | cities   | replicas |
      | main      | DFW, ORD | 2        |
    Then every Instance is Ready in the project at most 5 seconds after its cell
    And Workload "web" becomes available with 4 ready Instances
    And the conditions of Workload "web" are of its newest generation
    And the Instances in the project show the addresses of their Pods

  Scenario: What a consumer does to a projected Instance is refused or put back
    Given Workload "web" runs with
      | placement | cities | replicas |
      | main      | DFW    | 1        |
    When the consumer tries to give the projected Instance "web-main-dfw-0" image "docker.io/library/evil:1"
    Then that is refused with "change the Workload"
    When the projected Instance "web-main-dfw-0" is given image "docker.io/library/evil:1" by hand
    Then every Instance in the project shows image "docker.io/library/nginx:1.27"
    When the projected Instance "web-main-dfw-0" is given a volume by hand
    Then the projected Instance "web-main-dfw-0" has no volume
    When the projected Instance "web-main-dfw-0" is deleted by hand
    Then the project has exactly the Instances "web-main-dfw-0"
    And Instance "web-main-dfw-0" in cell "dfw" was not replaced

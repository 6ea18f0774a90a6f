Feature: Report status into the project
  The project shows the Instances in the cells, through Karmada's work status alone.

  Background:
    Given a namespace in project "north"

  @serial
  Scenario: Counts and Instances reach the project within seconds
    When the consumer creates Workload "web" with
      | placement | cities   | replicas |
      | main      | DFW, ORD | 2        |
    Then every Instance is Ready in the project at most 30 seconds after its cell
    And Workload "web" becomes available with 4 ready Instances
    And workload "web" has only current conditions
    And the Instances in the project show the addresses of their Pods

  @status @core
  Scenario: A consumer's change of a projected Instance is refused or undone
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

  @status @dependency @core
  Scenario: The Instances of a large deployment are reported in slices
    When the consumer creates Workload "web" with
      | placement | cities | replicas | policy   |
      | main      | DFW    | 60       | Parallel |
    Then Workload "web" becomes available with 60 ready Instances
    And the Instances in the project show the addresses of their Pods
    And the hub has exactly the instanceslices "web-main-dfw-16, web-main-dfw-48"
    And cell "dfw" has exactly the instanceslices "web-main-dfw-16, web-main-dfw-48"
    And workloaddeployment "web-main-dfw" on the hub has "status.reports[*].instances[*].index" "0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15"
    And the hub has 3 resourcebindings
    When 5 seconds pass
    Then "metadata.resourceVersion" of instanceslice "web-main-dfw-16" in cell "dfw" is remembered as "untouched"
    When an operator deletes pod "web-main-dfw-50" in cell "dfw"
    Then pod "web-main-dfw-50" in cell "dfw" becomes another one
    And Workload "web" becomes available with 60 ready Instances
    And the Instances in the project show the addresses of their Pods
    And instanceslice "web-main-dfw-16" in cell "dfw" still has "metadata.resourceVersion" "${untouched}"
    When the consumer deletes instance "web-main-dfw-50"
    Then instance "web-main-dfw-50" becomes another one
    And instance "web-main-dfw-50" has condition Ready True
    When Workload "web" is scaled to 20 and settles
    Then the hub has exactly the instanceslices "web-main-dfw-16"
    And cell "dfw" has exactly the instanceslices "web-main-dfw-16"
    And the hub has 2 resourcebindings
    When Workload "web" is scaled to 1 and settles
    Then the hub has no instanceslices
    And cell "dfw" has no instanceslices
    And the hub has 1 resourcebindings
    When the consumer deletes workload "web"
    Then the hub has nothing of the namespace
    And cell "dfw" has nothing of the namespace

@milo
Feature: Properties of Milo
  Milo does not wait for the add-on when a project is deleted. Milo restarts. A user who may impersonate can claim to act in a
  project.

  @serial
  Scenario: A project that is deleted while no replica runs
    Given namespace default of a project of its own
    And Workload "web" runs with
      | placement | cities | replicas |
      | main      | DFW    | 1        |
    When every replica is stopped
    And an operator deletes project "${project}" in Milo
    And project "${project}" in Milo is gone
    And every replica is started with "--project-withdrawal-after=4s"
    Then the hub has nothing of the namespace
    And cell "dfw" has nothing of the namespace
    When the project is recreated
    Then the project has nothing of the namespace
    And the consumer creates Workload "web" with
      | placement | cities | replicas |
      | main      | DFW    | 1        |
    And Workload "web" becomes available with 1 ready Instances
    When the consumer deletes workload "web"
    Then the hub has nothing of the namespace

  @serial
  Scenario: Milo is down and returns
    Given a namespace in project "north"
    And Workload "web" runs with
      | placement | cities | replicas |
      | main      | DFW    | 1        |
    And "metadata.uid" of pod "web-main-dfw-0" in cell "dfw" is remembered as "POD"
    And "metadata.uid" of workloaddeployment "web-main-dfw" on the hub is remembered as "DEPLOYMENT"
    When Milo is down
    And an operator deletes pod "web-main-dfw-0" in cell "dfw"
    Then pod "web-main-dfw-0" in cell "dfw" has another "metadata.uid" than "${POD}"
    When 18 seconds pass
    Then workloaddeployment "web-main-dfw" on the hub still has "metadata.uid" "${DEPLOYMENT}"
    When Milo is up again
    Then Workload "web" is scaled to 2 within 15 seconds
    And instance "web-main-dfw-0" in cell "dfw" was not replaced

  @serial @emptied
  Scenario: Milo loses its storage, and nothing is deleted before an operator decides
    Given a project of its own
    And Workload "web" runs with
      | placement | cities | replicas |
      | main      | DFW    | 1        |
    And "metadata.uid" of pod "web-main-dfw-0" in cell "dfw" is remembered as "POD"
    And every replica is stopped
    And every replica is started with "--project-withdrawal-after=2s"
    When Milo loses its storage
    Then metric "karmada_compute_projects_held" of all replicas is eventually at least 1
    When 4 seconds pass
    Then pod "web-main-dfw-0" in cell "dfw" still has "metadata.uid" "${POD}"
    And namespace "${hubNamespace}" on the hub has "status.phase" "Active"
    When an operator patches namespace "${hubNamespace}" on the hub with {"metadata":{"annotations":{"compute.datumapis.com/keep":"false"}}}
    Then the hub has nothing of the namespace
    And cell "dfw" has nothing of the namespace
    When Milo has its storage again
    Then Workload "web" becomes available with 1 ready Instances

  Scenario: A user at Milo's root claims to act in an existing project
    Given a namespace in project "north"
    When a user at Milo who claims to be in Project "north" tries to create a Workload
    Then that is refused with "may not create Workloads"
    And 5 seconds pass
    And the project has nothing of the namespace
    And the hub has nothing of the namespace

Feature: Bad input
  Invalid input is refused with a message that names the correction. Edited objects of the add-on are restored. No object is lost.

  Background:
    Given a namespace in project "north"

  @core @main
  Scenario: A city that the project may not use
    When the consumer tries to create Workload "web" with
      | placement | cities   | replicas |
      | main      | DFW, XYZ | 1        |
      | extra     | QQQ      | 1        |
    Then that is refused with "spec.placements[0].cityCodes[1]: Unsupported value: \"XYZ\""
    And that is refused with "spec.placements[1].cityCodes[0]: Unsupported value: \"QQQ\""
    And that is refused with "supported values: \"DFW\", "
    And that is refused with ", \"ORD\""

  Scenario: A Workload outside of any project
    When a user at Milo who claims nothing tries to create a Workload
    Then that is refused with "project"

  Scenario: A Workload for a project that does not exist
    When a user at Milo who claims to be in Project "nowhere" tries to create a Workload
    Then that is refused with "nowhere"

  Scenario: A Workload for something that is not a project
    When a user at Milo who claims to be in Organization "north" tries to create a Workload
    Then that is refused with "Organization"

  Scenario: A Workload in a project that is being deleted
    Given a project of its own that is being deleted
    When an operator tries to create the sample Workload
    Then that is refused with "being deleted"

  Scenario: A deployment name that would be too long
    When the consumer creates Workload "a-name-that-is-as-long-as-it-may-be-and-then-a-little-longer-63" with
      | placement                        | cities | replicas |
      | a-placement-with-a-long-name-too | DFW    | 1        |
    Then Workload "a-name-that-is-as-long-as-it-may-be-and-then-a-little-longer-63" becomes available with 1 ready Instances
    And every workloaddeployment in the project still has "metadata.name" matching "^.{1,63}$"

  @core
  Scenario: A deployment that was edited by hand on the hub
    Given Workload "web" runs with
      | placement | cities | replicas |
      | main      | DFW    | 1        |
    When an operator patches workloaddeployment "web-main-dfw" on the hub with {"spec":{"scaleSettings":{"minReplicas":5}}}
    Then workloaddeployment "web-main-dfw" on the hub has the same "spec" as in the project, but for "spec.assignment"
    When an operator patches workloaddeployment "web-main-dfw" on the hub with {"spec":{"replicas":7}}
    Then workloaddeployment "web-main-dfw" on the hub has the same "spec" as in the project, but for "spec.assignment"
    When an operator patches workloaddeployment "web-main-dfw" on the hub with {"metadata":{"annotations":{"compute.datumapis.com/break-glass":"a scenario"}}}
    And an operator deletes workloaddeployment "web-main-dfw" on the hub
    Then workloaddeployment "web-main-dfw" on the hub becomes another one
    And workloaddeployment "web-main-dfw" on the hub has the same "spec" as in the project, but for "spec.assignment"
    And Workload "web" becomes available with 1 ready Instances

  Scenario: A cell reports a deployment that it was not sent
    Given Workload "web" runs with
      | placement | cities | replicas |
      | main      | DFW    | 1        |
    When an operator patches workloaddeployment "web-main-dfw" in cell "dfw" with [{"op":"add","path":"/status/reports/0/instances/-","value":{"index":0,"state":7}},{"op":"add","path":"/status/instances","value":[{"name":"someone-elses-0"}]}]
    And a deployment "web-main-dfw" with a quota that grants nothing is put into cell "ord"
    And workloaddeployment "web-main-dfw" in cell "ord" has "status.reports"
    And Workload "web" is scaled to 2 and settles
    Then the project has exactly the instances "web-main-dfw-0, web-main-dfw-1"

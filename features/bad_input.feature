Feature: Bad input
  What cannot be right is refused with a word about what to do; what was edited behind the add-on's back is put
  right; nothing is lost.

  Background:
    Given a namespace in project "north"

  Scenario: A city that the project may not use
    When the consumer tries to create Workload "web" with
      | placement | cities   | replicas |
      | main      | DFW, XYZ | 1        |
      | extra     | QQQ      | 1        |
    Then that is refused with "spec.placements[0].cityCodes[1]: Unsupported value: \"XYZ\""
    And that is refused with "spec.placements[1].cityCodes[0]: Unsupported value: \"QQQ\""
    And that is refused with "supported values: \"DFW\", \"ORD\""

  Scenario: A Workload outside of any project
    When somebody at Milo's root tries to create a Workload without saying for which project
    Then that is refused with "project"

  Scenario: A Workload for a project that does not exist
    When somebody at Milo's root tries to create a Workload with the forged extras
      | iam.miloapis.com/parent-api-group | resourcemanager.miloapis.com |
      | iam.miloapis.com/parent-type      | Project                      |
      | iam.miloapis.com/parent-name      | nowhere                      |
    Then that is refused with "nowhere"

  Scenario: A Workload for something that is not a project
    When somebody at Milo's root tries to create a Workload with the forged extras
      | iam.miloapis.com/parent-api-group | resourcemanager.miloapis.com |
      | iam.miloapis.com/parent-type      | Organization                 |
      | iam.miloapis.com/parent-name      | north                        |
    Then that is refused with "Organization"

  Scenario: A Workload in a project that is being deleted
    Given a project that is being deleted
    When the consumer tries to create a Workload there
    Then that is refused with "being deleted"

  Scenario: A deployment name that would be too long
    When the consumer creates Workload "a-name-that-is-as-long-as-it-may-be-and-then-a-little-longer-63" with
      | placement                        | cities | replicas |
      | a-placement-with-a-long-name-too | DFW    | 1        |
    Then Workload "a-name-that-is-as-long-as-it-may-be-and-then-a-little-longer-63" becomes available with 1 ready Instances
    And every deployment name in the project is at most 63 characters long

  Scenario: A deployment that was edited by hand on the hub
    Given Workload "web" runs with
      | placement | cities | replicas |
      | main      | DFW    | 1        |
    When the hub deployment "web-main-dfw" is scaled to 5 by hand
    Then the hub deployment "web-main-dfw" is what the project's is
    When the hub deployment "web-main-dfw" is given a replica count by hand
    Then the hub deployment "web-main-dfw" is what the project's is
    When the hub deployment "web-main-dfw" is deleted by hand
    Then the hub deployment "web-main-dfw" is what the project's is
    And Workload "web" becomes available with 1 ready Instances

  Scenario: A cell that reports what it was not sent
    Given Workload "web" runs with
      | placement | cities | replicas |
      | main      | DFW    | 1        |
    When cell "dfw" reports Instance "someone-elses-0" for deployment "web-main-dfw"
    And cell "ord" reports a deployment "web-main-dfw" of its own in the same namespace
    And Workload "web" is scaled to 2 and settles
    Then the project has exactly the Instances "web-main-dfw-0, web-main-dfw-1"

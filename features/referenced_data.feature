@dependency
Feature: Referenced data
  ConfigMaps and Secrets that a Workload names in its project are in the cells that run it, as they are now, and in no
  other cell; and what a Secret holds is nowhere else.

  Background:
    Given a namespace in project "north"
    And the consumer may keep data in the namespace

  Scenario: What a Workload names is in the cell of its city, and in no other
    Given the consumer keeps
      | data                | key      | value             |
      | ConfigMap greetings | greeting | hello             |
      | Secret database     | password | a random password |
      | Secret registry     | token    | a random password |
      | ConfigMap other     | greeting | good day          |
      | ConfigMap unnamed   | greeting | good evening      |
    When the consumer creates Workload "web" which names "ConfigMap greetings, Secret database, pull Secret registry" with
      | placement | cities | replicas |
      | main      | DFW    | 2        |
    And the consumer creates Workload "far" which names "ConfigMap other" with
      | placement | cities | replicas |
      | main      | ORD    | 1        |
    Then Workload "web" becomes available with 2 ready Instances
    And Workload "far" becomes available with 1 ready Instances
    And deployment "web-main-dfw" has its data
    And deployment "far-main-ord" has its data
    And cell "dfw" has exactly the data "ConfigMap greetings, Secret database, Secret registry"
    And cell "ord" has exactly the data "ConfigMap other"
    And the data in cell "dfw" is what the project's is
    And the Pod "web-main-dfw-0" in cell "dfw" gets "ConfigMap greetings, Secret database, pull Secret registry"
    And the projected Instance "web-main-dfw-1" has its data
    When the consumer deletes Workload "web"
    Then cell "dfw" has not even the namespace
    And the hub has exactly the data "ConfigMap other"
    When the consumer deletes Workload "far"
    Then the hub has nothing of the namespace
    And cell "ord" has not even the namespace
    And no log of the add-on shows what a Secret holds

  @serial
  Scenario: What is changed in the project is changed in the cell within seconds, and nothing is written after
    Given the consumer keeps
      | data                | key      | value             |
      | ConfigMap greetings | greeting | hello             |
      | Secret database     | password | a random password |
    And the consumer creates Workload "web" which names "ConfigMap greetings, Secret database" with
      | placement | cities   | replicas |
      | main      | DFW, ORD | 1        |
    And Workload "web" becomes available with 2 ready Instances
    When the consumer changes "ConfigMap greetings" 3 times, each is in cells "dfw, ord" at most 5 seconds after
    And the consumer changes "Secret database" 3 times, each is in cells "dfw, ord" at most 5 seconds after
    Then deployment "web-main-dfw" has its data
    And nothing in the federation has been written by the add-on for 5 seconds
    And no log of the add-on shows what a Secret holds

  Scenario: What is missing holds the Instances, is named, and is picked up when it appears
    Given the consumer keeps
      | data                | key      | value |
      | ConfigMap greetings | greeting | hello |
    When the consumer creates Workload "web" which names "ConfigMap greetings, ConfigMap late, Secret database, optional Secret spare" with
      | placement | cities | replicas |
      | main      | DFW    | 1        |
    Then the data of deployment "web-main-dfw" is not ready because of "SourceNotFound", with "ConfigMap late does not exist in namespace"
    And the data of deployment "web-main-dfw" is not ready because of "SourceNotFound", with "Secret database does not exist in namespace"
    And deployment "web-main-dfw" is not available because of "ReferencedDataNotReady"
    And placement "main" of Workload "web" says "Secret database does not exist in namespace"
    And Instance "web-main-dfw-0" in cell "dfw" is held by "ReferencedData", with "ConfigMap late, Secret database"
    And cell "dfw" has exactly the data "ConfigMap greetings"
    When the consumer keeps
      | data            | key      | value             |
      | Secret database | password | a random password |
    Then Instance "web-main-dfw-0" in cell "dfw" is held by "ReferencedData", with "ConfigMap late"
    When the consumer keeps
      | data           | key      | value  |
      | ConfigMap late | greeting | at last |
    Then Workload "web" becomes available with 1 ready Instances
    And deployment "web-main-dfw" has its data

  Scenario: A template whose data is missing takes nothing down
    Given the consumer keeps
      | data                | key      | value |
      | ConfigMap greetings | greeting | hello |
    And the consumer creates Workload "web" which names "ConfigMap greetings" with
      | placement | cities | replicas |
      | main      | DFW    | 1        |
    And Workload "web" becomes available with 1 ready Instances
    And the Instances that run are remembered
    When the consumer lets Workload "web" name "ConfigMap greetings, ConfigMap late"
    Then the data of deployment "web-main-dfw" is not ready because of "SourceNotFound", with "ConfigMap late does not exist in namespace"
    And the conditions of Workload "web" are of its newest generation
    And Instance "web-main-dfw-0" in cell "dfw" was not replaced
    When the consumer keeps
      | data           | key      | value   |
      | ConfigMap late | greeting | at last |
    Then Instance "web-main-dfw-0" in cell "dfw" becomes another one
    And Workload "web" becomes available with 1 ready Instances

  Scenario: What two Workloads share stays until both are gone
    Given the consumer keeps
      | data            | key      | value             |
      | Secret database | password | a random password |
    And the consumer creates Workload "one" which names "Secret database" with
      | placement | cities   | replicas |
      | main      | DFW, ORD | 1        |
    And the consumer creates Workload "two" which names "Secret database" with
      | placement | cities | replicas |
      | main      | DFW    | 1        |
    And the consumer creates Workload "none" which names "" with
      | placement | cities   | replicas |
      | main      | DFW, ORD | 1        |
    And Workload "one" becomes available with 2 ready Instances
    And Workload "two" becomes available with 1 ready Instances
    When the consumer deletes Workload "one"
    Then the hub has exactly the deployments "none-main-dfw, none-main-ord, two-main-dfw"
    And "Secret database" on the hub goes with "two-main-dfw"
    And cell "ord" has exactly the data ""
    And cell "dfw" has exactly the data "Secret database"
    And deployment "two-main-dfw" has its data
    When the consumer deletes Workload "two"
    Then the hub has exactly the data ""
    And cell "dfw" has exactly the data ""

  Scenario: What a template no longer names goes
    Given the consumer keeps
      | data                | key      | value             |
      | ConfigMap greetings | greeting | hello             |
      | Secret database     | password | a random password |
    And the consumer creates Workload "web" which names "ConfigMap greetings, Secret database" with
      | placement | cities | replicas |
      | main      | DFW    | 1        |
    And Workload "web" becomes available with 1 ready Instances
    When the consumer lets Workload "web" name "ConfigMap greetings"
    Then the hub has exactly the data "ConfigMap greetings"
    And cell "dfw" has exactly the data "ConfigMap greetings"
    When the consumer lets Workload "web" name ""
    Then the hub has exactly the data ""
    And cell "dfw" has exactly the data ""
    And Workload "web" becomes available with 1 ready Instances
    And deployment "web-main-dfw" says nothing of data

  Scenario: What is deleted in the project is gone everywhere, and what runs goes on
    Given the consumer keeps
      | data            | key      | value             |
      | Secret database | password | a random password |
    And the consumer creates Workload "web" which names "Secret database" with
      | placement | cities | replicas |
      | main      | DFW    | 1        |
    And Workload "web" becomes available with 1 ready Instances
    And the Instances that run are remembered
    When the consumer deletes "Secret database"
    Then the hub has exactly the data ""
    And cell "dfw" has exactly the data ""
    And the data of deployment "web-main-dfw" is not ready because of "SourceNotFound", with "create it"
    And Workload "web" becomes available with 1 ready Instances
    And Instance "web-main-dfw-0" in cell "dfw" was not replaced

  Scenario: What is made again with another type, or was immutable, is followed
    Given the consumer keeps
      | data                          | key      | value             |
      | immutable ConfigMap greetings | greeting | hello             |
      | Secret database               | password | a random password |
    And the consumer creates Workload "web" which names "ConfigMap greetings, Secret database" with
      | placement | cities | replicas |
      | main      | DFW    | 1        |
    And Workload "web" becomes available with 1 ready Instances
    When the consumer deletes "ConfigMap greetings"
    And the consumer deletes "Secret database"
    And the consumer keeps
      | data                          | key      | value             |
      | immutable ConfigMap greetings | greeting | good bye          |
      | typed Secret database         | password | a random password |
    Then the data in cell "dfw" is what the project's is
    And deployment "web-main-dfw" has its data

  Scenario: What cannot be carried is said
    Given the consumer keeps
      | data             | key      | value        |
      | ConfigMap big    | greeting | 262145 bytes |
      | ConfigMap part-1 | greeting | 260000 bytes |
      | ConfigMap part-2 | greeting | 260000 bytes |
      | ConfigMap part-3 | greeting | 260000 bytes |
      | ConfigMap part-4 | greeting | 260000 bytes |
      | ConfigMap part-5 | greeting | 260000 bytes |
      | token Secret own | password | secret       |
    When the consumer creates Workload "big" which names "ConfigMap big" with
      | placement | cities | replicas |
      | main      | DFW    | 1        |
    And the consumer creates Workload "many" which names "ConfigMap part-1, ConfigMap part-2, ConfigMap part-3, ConfigMap part-4, ConfigMap part-5" with
      | placement | cities | replicas |
      | main      | DFW    | 1        |
    And the consumer creates Workload "token" which names "Secret own" with
      | placement | cities | replicas |
      | main      | DFW    | 1        |
    Then the data of deployment "big-main-dfw" is not ready because of "SourceTooLarge", with "ConfigMap big holds 262153 bytes and at most 262144"
    And the data of deployment "many-main-dfw" is not ready because of "SourceTooLarge", with "1300040 bytes together and at most 1048576"
    And the data of deployment "token-main-dfw" is not ready because of "SourceRefused", with "type kubernetes.io/service-account-token"
    And deployment "big-main-dfw" is not available because of "ReferencedDataNotReady"
    And the hub has exactly the data ""
    When the consumer changes "ConfigMap big" to hold "small"
    And the consumer lets Workload "many" name "ConfigMap part-1, ConfigMap part-2, ConfigMap part-3, ConfigMap part-4"
    Then Workload "big" becomes available with 1 ready Instances
    And Workload "many" becomes available with 1 ready Instances

  @serial
  Scenario: What the add-on may not read is said, and read as soon as it may
    Given a project of its own that may use DFW
    And the consumer may keep data in the namespace
    And the consumer keeps
      | data            | key      | value             |
      | Secret database | password | a random password |
    And the add-on may not read Secrets in projects
    When the consumer creates Workload "web" which names "Secret database" with
      | placement | cities | replicas |
      | main      | DFW    | 1        |
    Then the data of deployment "web-main-dfw" is not ready because of "SourceUnauthorized", with "may not read Secret database"
    When the add-on may read Secrets in projects again
    Then Workload "web" becomes available with 1 ready Instances

  Scenario: What is done to a copy on the hub is put right, and what is not ours is left alone
    Given the consumer keeps
      | data                | key      | value |
      | ConfigMap greetings | greeting | hello |
      | ConfigMap taken     | greeting | hello |
    And the consumer creates Workload "web" which names "ConfigMap greetings" with
      | placement | cities | replicas |
      | main      | DFW    | 1        |
    And Workload "web" becomes available with 1 ready Instances
    When "ConfigMap greetings" on the hub is edited by hand
    Then the data in cell "dfw" is what the project's is
    When "ConfigMap greetings" on the hub is deleted by hand
    Then the data in cell "dfw" is what the project's is
    When somebody else puts "ConfigMap taken" on the hub
    And the consumer lets Workload "web" name "ConfigMap taken"
    Then the data of deployment "web-main-dfw" is not ready because of "SourceRefused", with "not the add-on's"
    And "ConfigMap taken" on the hub is still somebody else's

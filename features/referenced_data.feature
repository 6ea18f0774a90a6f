Feature: Referenced data
  The cells that run a Workload have the ConfigMaps and Secrets that it names, in their present form. No other cell has them, and the
  content of a Secret is nowhere else.

  Background:
    Given a namespace in project "north"
    And the consumer is allowed to do everything to "configmaps, secrets" in the namespace

  @dependency @core
  Scenario: Only the cell of a Workload's city has the data that the Workload names
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
    And workloaddeployment "web-main-dfw" has current condition ReferencedDataReady True because of "Ready"
    And workloaddeployment "far-main-ord" has current condition ReferencedDataReady True because of "Ready"
    And cell "dfw" keeps exactly "ConfigMap greetings, Secret database, Secret registry"
    And cell "ord" keeps exactly "ConfigMap other"
    And the data in cell "dfw" equals the project's data
    And pod "web-main-dfw-0" in cell "dfw" still has
      | spec.volumes[*].configMap.name                               | greetings                            |
      | spec.volumes[*].secret.secretName                            | database                             |
      | spec.containers[0].volumeMounts[*].name                      | configmap-greetings secret-database  |
      | spec.containers[0].env[*].valueFrom.configMapKeyRef.name     | greetings                            |
      | spec.containers[0].env[*].valueFrom.secretKeyRef.name        | database                             |
      | spec.imagePullSecrets[*].name                                | registry                             |
    And instance "web-main-dfw-1" has condition ReferencedDataReady True
    When the consumer deletes workload "web"
    Then cell "dfw" has nothing of the namespace
    And the hub keeps exactly "ConfigMap other"
    When the consumer deletes workload "far"
    Then the hub has nothing of the namespace
    And cell "ord" has nothing of the namespace
    And no log of the add-on contains a value of a Secret

  @serial
  Scenario: A change in the project reaches the cell within seconds, and then no writes follow
    Given the consumer keeps
      | data                | key      | value             |
      | ConfigMap greetings | greeting | hello             |
      | Secret database     | password | a random password |
    And Workload "web" which names "ConfigMap greetings, Secret database" runs with
      | placement | cities   | replicas |
      | main      | DFW, ORD | 1        |
    When the consumer changes "greeting" of "ConfigMap greetings" 3 times, each is in cells "dfw, ord" at most 30 seconds after
    And the consumer changes "password" of "Secret database" 3 times, each is in cells "dfw, ord" at most 30 seconds after
    Then workloaddeployment "web-main-dfw" has current condition ReferencedDataReady True because of "Ready"
    And nothing in the federation has been written by the add-on for 5 seconds
    And no log of the add-on contains a value of a Secret

  Scenario: Instances wait for missing data, name it, and start when it appears
    Given the consumer keeps
      | data                | key      | value |
      | ConfigMap greetings | greeting | hello |
    When the consumer creates Workload "web" which names "ConfigMap greetings, ConfigMap late, Secret database, optional Secret spare" with
      | placement | cities | replicas |
      | main      | DFW    | 1        |
    Then workloaddeployment "web-main-dfw" has current condition ReferencedDataReady False because of "SourceNotFound", saying "ConfigMap late does not exist in namespace"
    And workloaddeployment "web-main-dfw" has current condition ReferencedDataReady False because of "SourceNotFound", saying "Secret database does not exist in namespace"
    And workloaddeployment "web-main-dfw" has condition Available False because of "ReferencedDataNotReady"
    And placement "main" of Workload "web" reports "Secret database does not exist in namespace"
    And instance "web-main-dfw-0" in cell "dfw" has condition ReferencedDataReady False because of "AwaitingPropagation", saying just "not in the cell: ConfigMap late, Secret database"
    And instance "web-main-dfw-0" in cell "dfw" has condition Programmed False because of "PendingProgramming"
    And instance "web-main-dfw-0" in cell "dfw" has "spec.controller.schedulingGates[*].name" "ReferencedData"
    And pod "web-main-dfw-0" in cell "dfw" does not exist
    And cell "dfw" keeps exactly "ConfigMap greetings"
    When the consumer keeps
      | data            | key      | value             |
      | Secret database | password | a random password |
    Then instance "web-main-dfw-0" in cell "dfw" has condition ReferencedDataReady False because of "AwaitingPropagation", saying just "not in the cell: ConfigMap late"
    And instance "web-main-dfw-0" in cell "dfw" has condition Programmed False because of "PendingProgramming"
    And instance "web-main-dfw-0" in cell "dfw" has "spec.controller.schedulingGates[*].name" "ReferencedData"
    And pod "web-main-dfw-0" in cell "dfw" does not exist
    When the consumer keeps
      | data           | key      | value  |
      | ConfigMap late | greeting | at last |
    Then Workload "web" becomes available with 1 ready Instances
    And workloaddeployment "web-main-dfw" has current condition ReferencedDataReady True because of "Ready"

  Scenario: A new template whose data is missing replaces no Instance
    Given the consumer keeps
      | data                | key      | value |
      | ConfigMap greetings | greeting | hello |
    And Workload "web" which names "ConfigMap greetings" runs with
      | placement | cities | replicas |
      | main      | DFW    | 1        |
    When the consumer lets Workload "web" name "ConfigMap greetings, ConfigMap late"
    Then workloaddeployment "web-main-dfw" has current condition ReferencedDataReady False because of "SourceNotFound", saying "ConfigMap late does not exist in namespace"
    And workload "web" has only current conditions
    And instance "web-main-dfw-0" in cell "dfw" was not replaced
    When the consumer keeps
      | data           | key      | value   |
      | ConfigMap late | greeting | at last |
    Then instance "web-main-dfw-0" in cell "dfw" becomes another one
    And Workload "web" becomes available with 1 ready Instances

  @dependency
  Scenario: A running Workload begins to name data
    Given Workload "web" runs with
      | placement | cities | replicas |
      | main      | DFW    | 1        |
    And workloaddeployment "web-main-dfw" on the hub still has "metadata.annotations['propagationpolicy.karmada.io/name']" "independent-city-dfw"
    And the consumer keeps
      | data                | key      | value |
      | ConfigMap greetings | greeting | hello |
    When the consumer lets Workload "web" name "ConfigMap greetings"
    Then instance "web-main-dfw-0" in cell "dfw" becomes another one
    And Workload "web" becomes available with 1 ready Instances
    And cell "dfw" keeps exactly "ConfigMap greetings"
    And workloaddeployment "web-main-dfw" on the hub still has "metadata.annotations['propagationpolicy.karmada.io/name']" "city-dfw"
    When the consumer deletes workload "web"
    Then the hub has nothing of the namespace
    And cell "dfw" has nothing of the namespace

  @dependency
  Scenario: Shared data stays until both Workloads are deleted
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
    When the consumer deletes workload "one"
    Then the hub has exactly the workloaddeployments "none-main-dfw, none-main-ord, two-main-dfw"
    And secret "database" on the hub has "metadata.ownerReferences[*].name" "two-main-dfw"
    And cell "ord" keeps exactly ""
    And cell "dfw" keeps exactly "Secret database"
    And workloaddeployment "two-main-dfw" has current condition ReferencedDataReady True because of "Ready"
    When the consumer deletes workload "two"
    Then the hub keeps exactly ""
    And cell "dfw" keeps exactly ""

  Scenario: Data that the template no longer names is deleted
    Given the consumer keeps
      | data                | key      | value             |
      | ConfigMap greetings | greeting | hello             |
      | Secret database     | password | a random password |
    And Workload "web" which names "ConfigMap greetings, Secret database" runs with
      | placement | cities | replicas |
      | main      | DFW    | 1        |
    When the consumer lets Workload "web" name "ConfigMap greetings"
    Then the hub keeps exactly "ConfigMap greetings"
    And cell "dfw" keeps exactly "ConfigMap greetings"
    When the consumer lets Workload "web" name ""
    Then the hub keeps exactly ""
    And cell "dfw" keeps exactly ""
    And Workload "web" becomes available with 1 ready Instances
    And workloaddeployment "web-main-dfw" has no condition ReferencedDataReady

  Scenario: Data that is deleted in the project is deleted everywhere, and Instances continue
    Given the consumer keeps
      | data            | key      | value             |
      | Secret database | password | a random password |
    And Workload "web" which names "Secret database" runs with
      | placement | cities | replicas |
      | main      | DFW    | 1        |
    When the consumer deletes secret "database"
    Then the hub keeps exactly ""
    And cell "dfw" keeps exactly ""
    And workloaddeployment "web-main-dfw" has current condition ReferencedDataReady False because of "SourceNotFound", saying "create it"
    And Workload "web" becomes available with 1 ready Instances
    And instance "web-main-dfw-0" in cell "dfw" was not replaced

  Scenario: Data that is recreated with another type, or was immutable, is replaced
    Given the consumer keeps
      | data                          | key      | value             |
      | immutable ConfigMap greetings | greeting | hello             |
      | Secret database               | password | a random password |
    And Workload "web" which names "ConfigMap greetings, Secret database" runs with
      | placement | cities | replicas |
      | main      | DFW    | 1        |
    When the consumer deletes configmap "greetings"
    And the consumer deletes secret "database"
    And the consumer keeps
      | data                          | key      | value             |
      | immutable ConfigMap greetings | greeting | good bye          |
      | typed Secret database         | password | a random password |
    Then the data in cell "dfw" equals the project's data
    And workloaddeployment "web-main-dfw" has current condition ReferencedDataReady True because of "Ready"

  # Karmada writes the labels of a new version into the cell, and leaves the data there as it was.
  Scenario: A cell keeps the earlier value of a Secret, by a customization of the operator
    Given the consumer keeps
      | data            | key      | value |
      | Secret database | password | first |
    And an operator creates on the hub
      """
      apiVersion: config.karmada.io/v1alpha1
      kind: ResourceInterpreterCustomization
      metadata: {name: "retain-${hubNamespace}"}
      spec:
        target: {apiVersion: v1, kind: Secret}
        customizations:
          retention:
            luaScript: |
              function Retain(desiredObj, observedObj)
                if desiredObj.metadata.namespace == "${hubNamespace}" then
                  desiredObj.data = observedObj.data
                end
                return desiredObj
              end
      """
    And Workload "web" which names "Secret database" runs with
      | placement | cities   | replicas |
      | main      | DFW, ORD | 1        |
    When the consumer patches secret "database" with {"stringData":{"password":"second"}}
    Then workloaddeployment "web-main-dfw" has current condition ReferencedDataReady False because of "ContentDiffers", saying "Secret database in cell dfw"
    And workloaddeployment "web-main-ord" has current condition ReferencedDataReady False because of "ContentDiffers", saying "Secret database in cell ord"
    And instance "web-main-dfw-0" in cell "dfw" has condition ReferencedDataReady True because of "ContentDiffers"
    And secret "database" in cell "dfw" still has "data.password" "Zmlyc3Q="
    When an operator deletes resourceinterpretercustomization "retain-${hubNamespace}" on the hub
    Then the data in cell "dfw" equals the project's data
    And workloaddeployment "web-main-dfw" has current condition ReferencedDataReady True because of "Ready"
    And workloaddeployment "web-main-ord" has current condition ReferencedDataReady True because of "Ready"

  Scenario: Data that cannot be propagated is reported
    Given the consumer keeps
      | data             | key      | value        |
      | ConfigMap big    | greeting | 262145 bytes |
      | ConfigMap part-1 | greeting | 260000 bytes |
      | ConfigMap part-2 | greeting | 260000 bytes |
      | ConfigMap part-3 | greeting | 260000 bytes |
      | ConfigMap part-4 | greeting | 260000 bytes |
      | ConfigMap part-5 | greeting | 260000 bytes |
    When the consumer creates Workload "big" which names "ConfigMap big" with
      | placement | cities | replicas |
      | main      | DFW    | 1        |
    And the consumer creates Workload "many" which names "ConfigMap part-1, ConfigMap part-2, ConfigMap part-3, ConfigMap part-4, ConfigMap part-5" with
      | placement | cities | replicas |
      | main      | DFW    | 1        |
    Then workloaddeployment "big-main-dfw" has current condition ReferencedDataReady False because of "SourceTooLarge", saying "ConfigMap big holds 262153 bytes and at most 262144"
    And workloaddeployment "many-main-dfw" has current condition ReferencedDataReady False because of "SourceTooLarge", saying "1300040 bytes together and at most 1048576"
    And workloaddeployment "big-main-dfw" has condition Available False because of "ReferencedDataNotReady"
    And the hub keeps exactly ""
    When the consumer patches configmap "big" with {"data":{"greeting":"small"}}
    And the consumer lets Workload "many" name "ConfigMap part-1, ConfigMap part-2, ConfigMap part-3, ConfigMap part-4"
    Then Workload "big" becomes available with 1 ready Instances
    And Workload "many" becomes available with 1 ready Instances

  Scenario: Data that the add-on may not read is reported, and propagated as soon as it may
    Given a project of its own that may use DFW
    And the consumer is allowed to do everything to "configmaps, secrets" in the namespace
    And the consumer keeps
      | data            | key      | value             |
      | Secret database | password | a random password |
    And the add-on may not read Secrets in the project
    When the consumer creates Workload "web" which names "Secret database" with
      | placement | cities | replicas |
      | main      | DFW    | 1        |
    Then workloaddeployment "web-main-dfw" has current condition ReferencedDataReady False because of "SourceUnauthorized", saying "may not read Secret database"
    When the add-on may read Secrets in the project again
    Then Workload "web" becomes available with 1 ready Instances

  Scenario: An edited copy on the hub is restored, and objects of others stay as they are
    Given the consumer keeps
      | data                | key      | value |
      | ConfigMap greetings | greeting | hello |
      | ConfigMap taken     | greeting | hello |
    And Workload "web" which names "ConfigMap greetings" runs with
      | placement | cities | replicas |
      | main      | DFW    | 1        |
    When an operator patches configmap "greetings" on the hub with {"data":{"greeting":"changed","added":"more"},"metadata":{"labels":{"compute.datumapis.com/project-uid":"wrong"}}}
    Then configmap "greetings" on the hub has
      | data                                                 | {"greeting":"hello"} |
      | metadata.labels['compute.datumapis.com/project-uid'] | ${projectUID}        |
    And the data in cell "dfw" equals the project's data
    When an operator deletes configmap "greetings" on the hub
    Then configmap "greetings" on the hub becomes another one
    And the data in cell "dfw" equals the project's data
    When an operator creates on the hub
      """
      apiVersion: v1
      kind: ConfigMap
      metadata: {name: taken}
      data: {owner: an operator}
      """
    And the consumer lets Workload "web" name "ConfigMap taken"
    Then workloaddeployment "web-main-dfw" has current condition ReferencedDataReady False because of "SourceRefused", saying "not the add-on's"
    And configmap "taken" on the hub still has "data" "{"owner":"an operator"}"
    And configmap "taken" on the hub still has no "metadata.labels"

@containers
Feature: Instances as processes
  Cell "hou" has nodes with kubelet, containerd and runc. These scenarios need real processes: their environment, their signals and their
  failures.

  Background:
    Given cell "hou" runs containers
    And a namespace in project "south" and one of the same name in project "north"

  @core
  Scenario: An Instance answers at its address
    When the consumer creates Workload "web" of 2 in HOU with container {"args":["--log=1s"]}
    Then Workload "web" becomes available with 2 ready Instances
    And the Instances in the project show the addresses of their Pods
    And Instance "web-main-hou-0" answers "/" with "web-main-hou-0"
    And Instance "web-main-hou-1" answers "/" with "web-main-hou-1"
    And the log of pod "web-main-hou-0" in cell "hou" has "line 1"

  @core
  Scenario: The process sees the environment, ConfigMaps and Secrets
    Given the consumer is allowed to do everything to "configmaps, secrets" in the namespace
    And the consumer keeps
      | data                | key      | value         |
      | ConfigMap greetings | greeting | hello         |
      | Secret database     | password | not-a-secret  |
    When the consumer creates Workload "web" of 1 in HOU which names "ConfigMap greetings, Secret database" with container {"env":[{"name":"COLOUR","value":"blue"}]}
    Then Workload "web" becomes available with 1 ready Instances
    And Instance "web-main-hou-0" answers "/env" with "COLOUR=blue"
    And Instance "web-main-hou-0" answers "/env" with "CONFIGMAP_GREETINGS=hello"
    And Instance "web-main-hou-0" answers "/env" with "SECRET_DATABASE=not-a-secret"
    And Instance "web-main-hou-0" answers "/file?path=/data/configmap-greetings/greeting" with "hello"
    And Instance "web-main-hou-0" answers "/file?path=/data/secret-database/password" with "not-a-secret"

  Scenario: An Instance tells that newer data waits for a restart
    Given the consumer is allowed to do everything to "configmaps, secrets" in the namespace
    And the consumer keeps
      | data                | key      | value |
      | ConfigMap greetings | greeting | hello |
    When the consumer creates Workload "web" of 1 in HOU which names "ConfigMap greetings" with container {}
    Then Workload "web" becomes available with 1 ready Instances
    And instance "web-main-hou-0" has "status.controller.dataHash" matching "^[0-9a-v]{16}$"
    Given "status.controller.dataHash" of instance "web-main-hou-0" is remembered as "HELLO"
    When the consumer patches configmap "greetings" with {"data":{"greeting":"good day"}}
    Then instance "web-main-hou-0" has condition DataCurrent False because of "RestartPending", saying "ConfigMap greetings"
    And instance "web-main-hou-0" still has "status.controller.dataHash" "${HELLO}"
    And Instance "web-main-hou-0" answers "/env" with "CONFIGMAP_GREETINGS=hello"
    When the consumer runs "kubectl compute explain web"
    Then the command has ended with exit code 0
    And the command prints "-> consumer: Restart the Instances: `kubectl compute restart NAME`"
    # A restart of the container has the newest data.
    When Instance "web-main-hou-0" receives request "/exit?code=3"
    Then instance "web-main-hou-0" has no condition DataCurrent
    And Instance "web-main-hou-0" answers "/env" with "CONFIGMAP_GREETINGS=good day"

  Scenario: A value of a ConfigMap that the program refuses takes one Instance down, and an undo brings the earlier value back
    Given cells "lax, mia" run containers
    And the consumer is allowed to do everything to "configmaps, secrets" in the namespace
    And the consumer keeps
      | data               | key      | value |
      | ConfigMap settings | greeting | 1s    |
    When the consumer creates Workload "web" of 2 in HOU, LAX, MIA which names "ConfigMap settings" with container {"args":["--log=$(CONFIGMAP_SETTINGS)"],"readinessProbe":{"httpGet":{"path":"/ready","port":8080},"periodSeconds":1,"timeoutSeconds":5}}
    And the consumer patches workload "web" with {"spec":{"disruption":{"minAvailable":5},"rollout":{"cityOrder":["HOU","LAX","MIA"],"onDataChange":{"policy":"Rollout"}}}}
    Then workload "web" has "status.availableReplicas" "6"
    And workload "web" has "status.rollout.phase" "Complete"
    And every Instance of Workload "web" answers "/env" with "CONFIGMAP_SETTINGS=1s"
    Given "status.controller.dataHash" of instance "web-main-hou-0" is remembered as "GOOD"
    Then every instance in the project has "status.controller.dataHash" "${GOOD}"

    # One Instance of one city tries the refused value. The others keep theirs, and the budget holds.
    When the consumer patches configmap "settings" with {"data":{"greeting":"often"}}
    Then instance "web-main-hou-1" has condition Ready False because of "InstanceCrashing"
    And workload "web" has condition Degraded True because of "InstanceCrashing"
    And workload "web" still has "status.availableReplicas" "5"
    And Instance "web-main-hou-0" answers "/env" with "CONFIGMAP_SETTINGS=1s"
    And every instance in cell "lax" still has "status.controller.dataHash" "${GOOD}"
    And every instance in cell "mia" still has "status.controller.dataHash" "${GOOD}"
    When the consumer runs "kubectl compute rollout undo web"
    Then the command prints "web rolled back"
    And workload "web" has "status.availableReplicas" "6"
    And workload "web" has condition DataCurrent False because of "DataHeld", saying "ConfigMap settings"
    And every instance in the project has "status.controller.dataHash" "${GOOD}"
    And workload "web" has "status.rollout.phase" "Complete"

    # A good value goes from city to city: a pause after 4 of 6 Instances shows the order.
    When the consumer patches workload "web" with {"spec":{"rollout":{"pauseAfter":4}}}
    And the consumer patches configmap "settings" with {"data":{"greeting":"2s"}}
    Then workload "web" has "status.rollout.phase" "Paused"
    And Instance "web-main-hou-0" answers "/env" with "CONFIGMAP_SETTINGS=2s"
    And Instance "web-main-hou-1" answers "/env" with "CONFIGMAP_SETTINGS=2s"
    And Instance "web-main-lax-0" answers "/env" with "CONFIGMAP_SETTINGS=2s"
    And Instance "web-main-lax-1" answers "/env" with "CONFIGMAP_SETTINGS=2s"
    And every instance in cell "mia" still has "status.controller.dataHash" "${GOOD}"
    Given "status.controller.dataHash" of instance "web-main-hou-1" is remembered as "BETTER"
    When the consumer runs "kubectl compute rollout resume web"
    Then every instance in the project has "status.controller.dataHash" "${BETTER}"
    And workload "web" has "status.rollout.phase" "Complete"
    And workload "web" has condition DataCurrent True because of "NewestData"

    # Of two changes during a rollout, the newest ends everywhere.
    When the consumer patches workload "web" with {"spec":{"rollout":{"pauseAfter":null}}}
    And the consumer patches configmap "settings" with {"data":{"greeting":"3s"}}
    Then workload "web" has "status.rollout.phase" "Progressing"
    When the consumer patches configmap "settings" with {"data":{"greeting":"4s"}}
    And the consumer patches configmap "settings" with {"data":{"greeting":"5s"}}
    Then every Instance of Workload "web" answers "/env" with "CONFIGMAP_SETTINGS=5s"
    And workload "web" has "status.rollout.phase" "Complete"
    And workload "web" has condition DataCurrent True because of "NewestData"

  Scenario: A process gets SIGTERM and ends within its grace period
    When the consumer creates Workload "web" of 2 in HOU with container {"args":["--drain=2s"]}
    Then Workload "web" becomes available with 2 ready Instances
    When the log of pod "web-main-hou-1" in cell "hou" is followed
    And Workload "web" is scaled to 1 and settles
    Then the log that is followed ends and has "ends in 2s after signal terminated"
    And Instance "web-main-hou-0" answers "/" with "web-main-hou-0"

  Scenario: A process that takes more memory than its size is killed
    When the consumer creates Workload "web" of 1 in HOU with container {"args":["--allocate=100"]}
    Then pod "web-main-hou-0" in cell "hou" has "status.containerStatuses[0].lastState.terminated.reason" "OOMKilled"
    And instance "web-main-hou-0" has condition Ready False because of "OOMKilled"

  Scenario: A process that exits once is restarted
    When the consumer creates Workload "web" of 1 in HOU with container {"args":["--log=1s"]}
    Then Workload "web" becomes available with 1 ready Instances
    When Instance "web-main-hou-0" receives request "/exit?code=3"
    Then pod "web-main-hou-0" in cell "hou" has "status.containerStatuses[0].lastState.terminated.exitCode" "3"
    And Instance "web-main-hou-0" answers "/" with "web-main-hou-0"
    And Workload "web" becomes available with 1 ready Instances

  Scenario: An Instance whose process exits repeatedly is reported as crashing
    When the consumer creates Workload "web" of 1 in HOU with container {"args":["--exit=500ms","--code=7"]}
    Then pod "web-main-hou-0" in cell "hou" has "status.containerStatuses[0].lastState.terminated.exitCode" "7"
    And instance "web-main-hou-0" has condition Ready False because of "InstanceCrashing"

  Scenario: An image that cannot be pulled is reported
    # No registry listens at this address.
    When the consumer creates Workload "web" of 1 in HOU with container {"image":"127.0.0.1:1/none:v1"}
    Then instance "web-main-hou-0" has condition Ready False because of "ImageUnavailable"

  Scenario: Instances of a project reach each other, and Instances of another project do not reach them
    When the consumer creates Workload "web" of 4 in HOU with container {}
    And in project "north" the consumer creates Workload "other" of 2 in HOU with container {}
    Then Workload "web" becomes available with 4 ready Instances
    And in project "north" Workload "other" becomes available with 2 ready Instances
    # Nodes do not reach each other. Each node runs two Instances of web, and one of other.
    When "status.podIP" of pod "web-main-hou-0" in cell "hou" is remembered as "address"
    Then another Instance of Workload "web" answers "/get?url=http://${address}:8080/" with "web-main-hou-0"
    And in project "north" every Instance of Workload "other" answers "/get?url=http://${address}:8080/" with "Client.Timeout"

  @serial @faults
  Scenario: Instances of a lost node start on another one, unless they wait for it
    Given the consumer creates Workload "web" of 2 in HOU with container {}
    And the consumer creates Workload "patient" of 2 in HOU with container {} and template {"onNodeLoss":"Wait"}
    And Workload "web" becomes available with 2 ready Instances
    And Workload "patient" becomes available with 2 ready Instances
    And Workload "web" runs on nodes "hou-containers-0, hou-containers-1" of cell "hou"
    And Workload "patient" runs on nodes "hou-containers-0, hou-containers-1" of cell "hou"
    When process "node-hou-containers-1" is killed
    Then node "hou-containers-1" in cell "hou" has condition Ready Unknown because of "NodeStatusUnknown"
    When the clock is started
    Then Workload "web" runs on nodes "hou-containers-0" of cell "hou"
    And Workload "web" becomes available with 2 ready Instances
    And at most 60 seconds have passed
    And workload "patient" still has "status.readyReplicas" "1"
    And Workload "patient" runs on nodes "hou-containers-0, hou-containers-1" of cell "hou"
    When process "node-hou-containers-1" is started again
    Then Workload "patient" becomes available with 2 ready Instances
    And Workload "patient" runs on nodes "hou-containers-0, hou-containers-1" of cell "hou"

@containers
Feature: Ready follows the consumer's probe
  Cell "hou" has nodes with kubelet, containerd and runc, where probes run.

  Background:
    Given cell "hou" runs containers
    And a namespace in project "south"

  @core
  Scenario: Ready follows the readiness probe
    When the consumer creates Workload "web" of 1 in HOU with container {"readinessProbe":{"httpGet":{"path":"/ready","port":8080},"periodSeconds":1,"failureThreshold":2}}
    Then Workload "web" becomes available with 1 ready Instances
    When Instance "web-main-hou-0" receives request "/ready?fail=true"
    Then instance "web-main-hou-0" has condition Ready False because of "ProbeFailing"
    And workload "web" has condition Available False because of "ProbeFailing"
    When Instance "web-main-hou-0" receives request "/ready?fail=false"
    Then Workload "web" becomes available with 1 ready Instances
    And instance "web-main-hou-0" still has no "status.restarts"

  Scenario: A new template that crashes after some seconds takes one Instance down
    When the consumer creates Workload "web" of 3 in HOU with container {"args":["--log=1s"]}
    Then Workload "web" becomes available with 3 ready Instances
    # The default: 10 seconds without a readiness probe.
    When the consumer patches workload "web" with {"spec":{"minReadySeconds":null,"template":{"spec":{"runtime":{"sandbox":{"containers":[{"name":"app","image":"karmada-compute.test/image:v1","args":["--exit=6s","--code=3"]}]}}}}}}
    Then instance "web-main-hou-2" has condition Ready False because of "InstanceCrashing"
    And instance "web-main-hou-2" has "status.containers[0].lastTermination.exitCode" "3"
    And instance "web-main-hou-2" has "status.restarts" "2"
    And workload "web" still has "status.availableReplicas" "2"
    And Instance "web-main-hou-0" answers "/" with "web-main-hou-0"
    And Instance "web-main-hou-1" answers "/" with "web-main-hou-1"
    And workload "web" has condition Available True because of "AvailablePlacementFound"

  # The project shows within the drain of 10 seconds that an Instance stops, also on a busy machine.
  Scenario Outline: A rollout fails no request
    When the consumer creates Workload "web" of <instances> in HOU with container {"args":["--drain=20s"],"readinessProbe":{"httpGet":{"path":"/ready","port":8080},"periodSeconds":1,"timeoutSeconds":5}}
    Then Workload "web" becomes available with <instances> ready Instances
    When a client sends a request to Workload "web" every 50 ms
    And the consumer patches workload "web" with {"spec":{"placements":[{"name":"main","cityCodes":["HOU"],"scaleSettings":{"minReplicas":<instances>,"instanceManagementPolicy":"<policy>"}}],"template":{"spec":{"runtime":{"sandbox":{"containers":[{"name":"app","image":"karmada-compute.test/image:v1","args":["--drain=20s","--log=1h"],"readinessProbe":{"httpGet":{"path":"/ready","port":8080},"periodSeconds":1,"timeoutSeconds":5}}]}}}}}}
    Then Workload "web" becomes available with <instances> ready Instances
    And the client has sent at least 50 requests, and none has failed

    Examples:
      | instances | policy       |
      | 3         | OrderedReady |

    @long
    Examples: longer
      | instances | policy       |
      | 1         | OrderedReady |
      | 10        | Parallel     |

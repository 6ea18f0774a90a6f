Feature: Run Instances in a cell
  A cell runs the Instances of a deployment in order, and every Instance is a running Pod.

  Background:
    Given a namespace in project "north"

  @core @main
  Scenario: Instances start in order, each after the previous one is Ready
    When the consumer creates Workload "web" with
      | placement | cities | replicas |
      | main      | DFW    | 3        |
    Then Workload "web" becomes available with 3 ready Instances
    And cell "dfw" runs exactly the Pods "web-main-dfw-0, web-main-dfw-1, web-main-dfw-2"
    And cell "dfw" has exactly the pods
      | name           | spec.containers[0].resources.requests.memory | spec.containers[0].resources.limits.memory | spec.securityContext.seccompProfile.type |
      | web-main-dfw-0 | 2Gi                                          | 2Gi                                        | RuntimeDefault                           |
      | web-main-dfw-1 | 2Gi                                          | 2Gi                                        | RuntimeDefault                           |
      | web-main-dfw-2 | 2Gi                                          | 2Gi                                        | RuntimeDefault                           |
    And in cell "dfw" each Instance was created after the previous one was Ready
    And every instance in cell "dfw" still has no "spec.controller.schedulingGates"

  @core @main
  Scenario: Scaling adds and removes the highest indices
    Given Workload "web" runs with
      | placement | cities | replicas |
      | main      | DFW    | 2        |
    When the consumer changes Workload "web" to
      | placement | cities | replicas |
      | main      | DFW    | 4        |
    Then Workload "web" becomes available with 4 ready Instances
    And instance "web-main-dfw-0" in cell "dfw" was not replaced
    When the consumer changes Workload "web" to
      | placement | cities | replicas |
      | main      | DFW    | 1        |
    Then cell "dfw" runs exactly the Pods "web-main-dfw-0"
    And the project has exactly the instances "web-main-dfw-0"
    And instance "web-main-dfw-0" in cell "dfw" was not replaced

  @core
  Scenario: A changed template rolls from the highest index down
    Given Workload "web" runs with
      | placement | cities | replicas |
      | main      | DFW    | 3        |
    When the consumer patches workload "web" with {"spec":{"template":{"spec":{"runtime":{"sandbox":{"containers":[{"name":"app","image":"docker.io/library/nginx:1.28"}]}}}}}}
    Then cell "dfw" has exactly the pods
      | name           | spec.containers[0].image     | status.phase |
      | web-main-dfw-0 | docker.io/library/nginx:1.28 | Running      |
      | web-main-dfw-1 | docker.io/library/nginx:1.28 | Running      |
      | web-main-dfw-2 | docker.io/library/nginx:1.28 | Running      |
    And in cell "dfw" the Instances were replaced from the highest index down, each when the one above was Ready
    And Workload "web" becomes available with 3 ready Instances
    And every instance in the project has "spec.runtime.sandbox.containers[0].image" "docker.io/library/nginx:1.28"

  @template
  Scenario: A Pod has the probes, init containers, identity and Instance fields of its template
    Given Workload "web" runs with
      | placement | cities | replicas |
      | main      | DFW    | 1        |
    When the consumer patches workload "web" with {"spec":{"template":{"metadata":{"annotations":{"team":"a","k8s.v1.cni.cncf.io/networks":"other"}},"spec":{"volumes":[{"name":"tmp","emptyDir":{"medium":"Memory","sizeLimit":"16Mi"}}],"runtime":{"sandbox":{"terminationGracePeriodSeconds":7,"securityContext":{"fsGroup":1000,"runAsNonRoot":true},"initContainers":[{"name":"migrate","image":"docker.io/library/nginx:1.27"},{"name":"proxy","image":"docker.io/library/nginx:1.27","restartPolicy":"Always","resources":{"limits":{"cpu":"100m","memory":"64Mi"}}}],"containers":[{"name":"app","image":"docker.io/library/nginx:1.28","ports":[{"name":"http","port":80}],"readinessProbe":{"httpGet":{"port":"http","path":"/"},"periodSeconds":2},"lifecycle":{"preStop":{"sleep":{"seconds":1}}},"env":[{"name":"CITY","valueFrom":{"fieldRef":{"fieldPath":"metadata.labels['compute.datumapis.com/city-code']"}}},{"name":"PROJECT","valueFrom":{"fieldRef":{"fieldPath":"metadata.annotations['compute.datumapis.com/project']"}}}],"volumeAttachments":[{"name":"tmp","mountPath":"/tmp"},{"name":"tmp","mountPath":"/cache","subPath":"cache","readOnly":true}]}]}}}}}}
    Then cell "dfw" has exactly the pods
      | name           | spec.containers[0].readinessProbe.periodSeconds | spec.initContainers[*].name | spec.terminationGracePeriodSeconds | spec.securityContext.fsGroup | spec.containers[0].volumeMounts[*].mountPath | spec.containers[0].env[*].value  | metadata.annotations | status.phase |
      | web-main-dfw-0 | 2                                               | migrate proxy               | 7                                  | 1000                         | /tmp /cache                                  | DFW north                        | {"team":"a"}         | Running      |
    And Workload "web" becomes available with 1 ready Instances
    When the consumer tries to patch workload "web" with {"spec":{"template":{"spec":{"runtime":{"sandbox":{"terminationGracePeriodSeconds":86400}}}}}}
    Then that is refused with "spec.template.spec.runtime.sandbox.terminationGracePeriodSeconds"

  @protection
  Scenario: A lost Pod is recreated, and only Pods may be changed in a cell
    Given Workload "web" runs with
      | placement | cities | replicas |
      | main      | DFW    | 1        |
    When an operator deletes pod "web-main-dfw-0" in cell "dfw"
    Then pod "web-main-dfw-0" in cell "dfw" becomes another one
    And cell "dfw" runs exactly the Pods "web-main-dfw-0"
    And Workload "web" becomes available with 1 ready Instances
    # An administrator of the cell, with all rights in RBAC.
    When user "federation" tries to patch workloaddeployment "web-main-dfw" in cell "dfw" with {"spec":{"replicas":2}}
    Then that is refused with "change Workload web in its project instead"
    When user "federation" tries to patch instance "web-main-dfw-0" in cell "dfw" with {"spec":{"runtime":{"sandbox":{"containers":[{"name":"app","image":"docker.io/library/evil:1"}]}}}}
    Then that is refused with "change Workload web in its project instead"
    When user "federation" tries to patch instance "web-main-dfw-0" in cell "dfw" with {"metadata":{"finalizers":null}}
    Then that is not refused

  Scenario: A configured quota holds an Instance until it is granted
    When a deployment "held" with a quota that grants nothing is put into cell "dfw"
    Then instance "held-0" in cell "dfw" has condition Ready False because of "SchedulingGatesPresent"
    And cell "dfw" runs exactly the Pods ""
    When an operator patches workloaddeployment "held" in cell "dfw" with {"spec":{"quota":{"granted":[{"first":0,"last":0}]}}}
    Then cell "dfw" runs exactly the Pods "held-0"

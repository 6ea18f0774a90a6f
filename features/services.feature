Feature: Workloads reach each other by name in a city
  A Workload with spec.service has a Service of its name in each of its cells, over the Instances of all its placements there.
  Kubernetes itself keeps the endpoints: they are the Pods of the Instances that are Ready.

  @core @main
  Scenario: A Workload has a name in its cell for as long as it wants one
    Given a namespace in project "north"
    When the consumer creates in the project
      """
      apiVersion: compute.datumapis.com/v1alpha
      kind: Workload
      metadata: {name: api}
      spec:
        service:
          ports: [{port: 80, targetPort: http}]
        template:
          spec:
            runtime:
              sandbox: {containers: [{name: app, image: docker.io/library/nginx:1.27, ports: [{name: http, port: 8080}]}]}
        placements:
        - {name: main, cityCodes: [DFW], scaleSettings: {minReplicas: 1}}
        - {name: other, cityCodes: [DFW], scaleSettings: {minReplicas: 1}}
      """
    And the consumer creates Workload "web" with
      | placement | cities | replicas |
      | main      | DFW    | 1        |
    Then Workload "api" becomes available with 2 ready Instances
    And Workload "web" becomes available with 1 ready Instances
    And workload "api" has condition ServiceProgrammed True because of "ServiceProgrammed"
    And workload "web" has no condition ServiceProgrammed
    And cell "dfw" has exactly the services "api"
    And service "api" in cell "dfw" has "spec.ports[*].targetPort" "http"
    And cell "dfw" has 1 endpointslices
    And every endpointslice in cell "dfw" has "ports[*].port" "8080"
    And every endpointslice in cell "dfw" has "endpoints[?(@.targetRef.name=='api-main-dfw-0')].conditions.ready" "true"
    And every endpointslice in cell "dfw" has "endpoints[?(@.targetRef.name=='api-other-dfw-0')].conditions.ready" "true"
    And every endpointslice in cell "dfw" still has no "endpoints[?(@.targetRef.name=='web-main-dfw-0')].conditions.ready"

    # A change of the service replaces no Instance.
    When the consumer patches workload "api" with {"spec":{"service":{"ports":[{"name":"http","port":81,"targetPort":"http"},{"name":"metrics","port":9000}]}}}
    Then service "api" in cell "dfw" has "spec.ports[*].port" "81 9000"
    And every endpointslice in cell "dfw" has "ports[?(@.name=='metrics')].port" "9000"
    When the consumer patches workload "api" with {"spec":{"service":{"headless":true}}}
    Then service "api" in cell "dfw" has "spec.clusterIP" "None"
    And every endpointslice in cell "dfw" has "endpoints[?(@.targetRef.name=='api-main-dfw-0')].hostname" "api-main-dfw-0"
    And none of the Instances in cell "dfw" was replaced

    # A Service of the cell's operator keeps its name, which is the reason of the Workload's condition.
    When an operator creates in cell "dfw"
      """
      apiVersion: v1
      kind: Service
      metadata: {name: web, namespace: "${hubNamespace}"}
      spec: {ports: [{port: 1}]}
      """
    And the consumer patches workload "web" with {"spec":{"service":{"ports":[{"port":80}]}}}
    Then workload "web" has condition ServiceProgrammed False because of "ServiceNameTaken", saying "web-main-dfw: namespace"
    And service "web" in cell "dfw" has "spec.ports[*].port" "1"

    When the consumer patches workload "api" with {"spec":{"placements":[{"name":"main","cityCodes":["DFW"],"scaleSettings":{"minReplicas":1}}]}}
    Then workloaddeployment "api-other-dfw" in cell "dfw" is gone
    And service "api" in cell "dfw" exists
    When the consumer deletes workload "api"
    Then service "api" in cell "dfw" is gone
    And service "web" in cell "dfw" exists

  @containers
  Scenario: Instances use the short name of another Workload of their project, and no name of another project
    Given cell "lax" runs containers
    And Instances in cell "lax" resolve the names of Services
    And a namespace in project "south" and one of the same name in project "north"
    When the consumer creates Workload "api" of 2 in LAX with container {"ports":[{"name":"http","port":8080}]}
    And the consumer patches workload "api" with {"spec":{"service":{"ports":[{"port":80,"targetPort":"http"}]}}}
    And the consumer creates Workload "web" of 1 in LAX with container {}
    And in project "north" the consumer creates Workload "other" of 1 in LAX with container {}
    Then Workload "api" becomes available with 2 ready Instances
    And Workload "web" becomes available with 1 ready Instances
    And in project "north" Workload "other" becomes available with 1 ready Instances
    # kube-proxy divides connections between the Instances.
    And Instance "web-main-lax-0" answers "/get?url=http://api/" with "api-main-lax-0"
    And Instance "web-main-lax-0" answers "/get?url=http://api/" with "api-main-lax-1"
    And in project "north" Instance "other-main-lax-0" answers "/get?url=http://api/" with "no such host"
    When "spec.clusterIP" of service "api" in cell "lax" is remembered as "address"
    Then in project "north" Instance "other-main-lax-0" answers "/get?url=http://${address}/" with "Client.Timeout"
    # An administrator of the cell, with all rights in RBAC.
    When user "federation" tries to patch service "api" in cell "lax" with {"spec":{"sessionAffinity":"ClientIP"}}
    Then that is refused with "change Workload api in its project instead"

    # Peers have a name each.
    When the consumer patches workload "api" with {"spec":{"service":{"headless":true}}}
    Then Instance "web-main-lax-0" answers "/get?url=http://api-main-lax-1.api:8080/" with "api-main-lax-1"

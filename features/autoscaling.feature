@autoscaling
Feature: A Workload is scaled by metrics
  Kubernetes' autoscaler in the cell decides how many Instances run between minReplicas and maxReplicas.
  It reads the metrics API, which a metrics server serves in a real cell. Here an operator writes the metrics.

  @core
  Scenario: The number of Instances follows the load, and writes of the hub do not reset it
    Given a namespace in project "north"
    And cell "dfw" serves metrics of Pods
    When the consumer creates in the project
      """
      apiVersion: compute.datumapis.com/v1alpha
      kind: Workload
      metadata: {name: web}
      spec:
        template:
          spec:
            runtime:
              resources: {instanceType: datumcloud/d1-standard-2}
              sandbox: {containers: [{name: app, image: docker.io/library/nginx:1.27}]}
            networkInterfaces: [{network: {name: default}}]
        placements:
          - name: main
            cityCodes: [DFW]
            scaleSettings:
              minReplicas: 1
              maxReplicas: 3
              metrics:
              - resource: {name: cpu, target: {averageUtilization: 50}}
              - resource: {name: memory, target: {averageUtilization: 80}}
      """
    Then Workload "web" becomes available with 1 ready Instances
    And workloaddeployment "web-main-dfw" has condition ScalingActive False because of "FailedGetResourceMetric"
    And cell "dfw" runs 1 Instances
    When the Pods "web-main-dfw-0" in cell "dfw" use 100 % of their CPU
    Then cell "dfw" runs 2 Instances
    And Workload "web" becomes available with 2 ready Instances
    And workloaddeployment "web-main-dfw" has condition ScalingActive True because of "ValidMetricFound"
    And none of the Instances in cell "dfw" was replaced
    When the consumer patches workload "web" with [{"op":"replace","path":"/spec/placements/0/scaleSettings/maxReplicas","value":4}]
    Then workloaddeployment "web-main-dfw" in cell "dfw" has "spec.scaleSettings.maxReplicas" "4"
    And horizontalpodautoscaler "web-main-dfw" in cell "dfw" has "spec.maxReplicas" "4"
    And cell "dfw" runs exactly the Pods "web-main-dfw-0, web-main-dfw-1"
    And none of the Instances in cell "dfw" was replaced
    When the Pods "web-main-dfw-0, web-main-dfw-1" in cell "dfw" use 10 % of their CPU
    Then Workload "web" becomes available with 1 ready Instances
    And cell "dfw" runs exactly the Pods "web-main-dfw-0"
    When the Pods "web-main-dfw-0" in cell "dfw" use 120 % of their memory
    Then Workload "web" becomes available with 2 ready Instances


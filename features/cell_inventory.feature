@cellaudit
Feature: Inventory of a cell
  Each cell lists its WorkloadDeployments, and the hub compares the list with what it sends to the cell. Karmada removes a deployment
  only after its project has denied it twice.

  Scenario Outline: A deployment that no project wants is removed from a cell in <mode> mode
    Given <given>
    And a namespace in project "south"
    And project "south" may use LHR
    And Workload "web" runs with
      | placement | cities | replicas |
      | main      | <city> | 1        |
    And "metadata.uid" of namespace "kube-system" on the hub is remembered as "HUB"
    When an operator creates in cell "<cell>"
      """
      apiVersion: compute.datumapis.com/v1alpha
      kind: WorkloadDeployment
      metadata:
        name: left
        labels:
          karmada.io/managed: "true"
          compute.datumapis.com/hub-uid: ${HUB}
          compute.datumapis.com/project-uid: ${projectUID}
          compute.datumapis.com/workload-deployment-uid: none
          meta.datumapis.com/upstream-namespace: ${namespace}
        annotations:
          compute.datumapis.com/project: ${project}
          resourcetemplate.karmada.io/uid: none
          work.karmada.io/namespace: karmada-es-<cell>
          work.karmada.io/name: none
      spec:
        workloadRef: {name: left, uid: none}
        placementName: main
        cityCode: <city>
        scaleSettings: {minReplicas: 1}
        template:
          spec:
            runtime:
              resources: {instanceType: datumcloud/d1-standard-2}
              sandbox: {containers: [{name: app, image: registry.k8s.io/pause:3.10}]}
            networkInterfaces: [{network: {name: default}}]
      """
    And an operator creates in cell "<cell>"
      """
      apiVersion: compute.datumapis.com/v1alpha
      kind: WorkloadDeployment
      metadata:
        name: theirs
        labels:
          karmada.io/managed: "true"
          compute.datumapis.com/hub-uid: another
          compute.datumapis.com/project-uid: ${projectUID}
          compute.datumapis.com/workload-deployment-uid: none
          meta.datumapis.com/upstream-namespace: ${namespace}
        annotations:
          compute.datumapis.com/project: ${project}
          resourcetemplate.karmada.io/uid: none
          work.karmada.io/namespace: karmada-es-another
          work.karmada.io/name: none
      spec:
        workloadRef: {name: theirs, uid: none}
        placementName: main
        cityCode: <city>
        scaleSettings: {minReplicas: 1}
        template:
          spec:
            runtime:
              resources: {instanceType: datumcloud/d1-standard-2}
              sandbox: {containers: [{name: app, image: registry.k8s.io/pause:3.10}]}
            networkInterfaces: [{network: {name: default}}]
      """
    Then cell "<cell>" runs exactly the Pods "left-0, web-main-<label>-0"
    And cell "<cell>" has exactly the workloaddeployments "theirs, web-main-<label>"
    And cell "<cell>" runs exactly the Pods "web-main-<label>-0"
    And instance "web-main-<label>-0" in cell "<cell>" was not replaced

    Examples:
      | mode | given                          | cell | city | label |
      | push | a namespace in project "north" | dfw  | DFW  | dfw   |

    @customization
    Examples:
      | mode | given                                                    | cell | city | label |
      | pull | cell "lhr" is in pull mode and cannot reach the webhooks | lhr  | LHR  | lhr   |

  Scenario Outline: A namespace that has lost its Work is removed from a cell in <mode> mode
    Given <given>
    And a namespace in project "north"
    And project "north" may use LHR
    And Workload "web" runs with
      | placement | cities | replicas |
      | main      | <city> | 1        |
    # karmada-controller-manager removes them, too, without a request to the cell, while its cache of the cell lacks the namespace.
    When the Work of the namespace for cell "<cell>" loses its finalizers
    And the consumer deletes workload "web"
    Then namespace "${hubNamespace}" on the hub is gone
    And cell "<cell>" has nothing of the namespace

    Examples:
      | mode | given                          | cell | city |
      | push | a namespace in project "south" | dfw  | DFW  |

    @customization
    Examples:
      | mode | given                                                    | cell | city |
      | pull | cell "lhr" is in pull mode and cannot reach the webhooks | lhr  | LHR  |

/** Static PersistentVolumes in the cluster's state, for MinIO's claim. The cluster has no provisioner. */

import { paths } from '../host/state.ts'
import { apply, kubectl } from './kubectl.ts'
import { ensureVolumeDirectories } from './node.ts'

/** One for the chart's MinIO, the others for further releases that tests install. */
const names = ['volume-1', 'volume-2', 'volume-3', 'volume-4']
const storageClass = 'tintype-local'

/** Creates the default StorageClass and its volumes, and releases volumes whose claim was deleted. */
export async function ensureVolumes(): Promise<void> {
  await ensureVolumeDirectories(names)
  await apply([buildStorageClass(), ...names.map(buildVolume)].join('---\n'))
  const released = await kubectl(['get', 'persistentvolumes', '-o', 'jsonpath={.items[?(@.status.phase=="Released")].metadata.name}'])
  for (const name of released.split(' ').filter(Boolean)) {
    await kubectl(['patch', 'persistentvolume', name, '--type=merge', '-p', '{"spec":{"claimRef":null}}'])
  }
}

const buildStorageClass = (): string => `apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata:
  name: ${storageClass}
  annotations: { storageclass.kubernetes.io/is-default-class: "true" }
provisioner: kubernetes.io/no-provisioner
volumeBindingMode: Immediate
`

/** A hostPath keeps its owner, and MinIO runs as 10001 without permission to change it. ensureVolumeDirectories sets the owner. */
const buildVolume = (name: string): string => `apiVersion: v1
kind: PersistentVolume
metadata: { name: ${name} }
spec:
  capacity: { storage: 50Gi }
  accessModes: [ReadWriteOnce]
  persistentVolumeReclaimPolicy: Retain
  storageClassName: ${storageClass}
  hostPath: { path: "${paths.volumes}/${name}", type: Directory }
`

import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { cp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { Test } from 'tap'
import { namespaces } from '../../../crds/client/kinds.ts'
import { KubeHttp } from '../../../crds/client/kube-http.ts'
import { Resource } from '../../../crds/client/resource.ts'
import { type ControlPlane, type OwnPlaneOptions, startControlPlane, writeKubeconfigs } from '../../cluster/kubernetes/control-plane.ts'
import { buildKubeconfig, certificatePaths } from '../../cluster/kubernetes/pki.ts'
import { findLanePlane, type LanePlane } from '../lanes/lane.ts'
import { createKinds } from './create-kinds.ts'
import { accessPlane } from './plane-access.ts'

/** Registers teardowns: a tap test, or another owner. */
export type Ends = Pick<Test, 'teardown'>

/** A control plane, and the directory of the caller's files. */
export type OwnPlane = ControlPlane & { directory: string }

/** An API server with Tintype's kinds, and a namespace that nobody else uses. It is the one of the kubeconfigs. */
export type TestPlane = OwnPlane & { namespace: string }

export interface TestPlaneOptions extends Pick<OwnPlaneOptions, 'fsync'> {
  /** The test restarts the API server, or changes objects without a namespace that others use. It gets an API server of its own. */
  own?: boolean
  /** Labels of the namespace. */
  labels?: Record<string, string>
  namespace?: string
}

/** A name for a namespace. */
export const newNamespace = (): string => `test-${randomBytes(4).toString('hex')}`

/** Starts an API server that ends with the test file, which also removes its files. */
export async function startOwnPlane(t: Ends, options: Pick<OwnPlaneOptions, 'fsync'> = {}): Promise<OwnPlane> {
  const plane = await withDirectory((directory) => startControlPlane({ directory, ...options }))
  t.teardown(plane.stop)
  return plane
}

/** Opens the API server that the test file shares with others, or starts one if the file runs by itself or wants its own. The caller stops it. */
export async function openTestPlane({
  own = false,
  fsync = false,
  labels = {},
  namespace = newNamespace(),
}: TestPlaneOptions = {}): Promise<TestPlane> {
  const lane = own || fsync ? undefined : await findLanePlane()
  const plane = await withDirectory((directory) =>
    lane ? joinLane(lane, directory, namespace) : startControlPlane({ directory, fsync, namespace }),
  )
  const http = new KubeHttp(await accessPlane(plane.kubeconfigPath))
  try {
    if (!lane) await createKinds(http)
    await new Resource(http, namespaces).create({ metadata: { name: namespace, labels } })
  } catch (error) {
    // An error at the top level of a test file ends the process without teardown.
    await plane.stop()
    throw error
  } finally {
    await http.close()
  }
  return { ...plane, namespace }
}

/** The control plane of a lane, with kubeconfigs for one namespace. */
async function joinLane({ directory: shared, url, ...more }: LanePlane, directory: string, namespace: string): Promise<ControlPlane> {
  const pki = path.join(directory, 'pki')
  await cp(path.join(shared, 'pki'), pki, { recursive: true })
  const kubeconfigPath = path.join(directory, 'admin.kubeconfig')
  const admin = await buildKubeconfig(url, certificatePaths(pki, 'ca').certificate, certificatePaths(pki, 'admin'), namespace)
  await writeFile(kubeconfigPath, admin, { mode: 0o600 })
  const refuse = () => Promise.reject(new Error('The API server is shared with other test files. Pass `own: true` to start another.'))
  const kubeconfigFor = writeKubeconfigs({ directory, url, namespace })
  return { ...more, url, kubeconfigPath, kubeconfigFor, restart: refuse, startControllers: refuse, stop: async () => {} }
}

/** Opens a control plane with a new directory, which `stop` removes. */
async function withDirectory(open: (directory: string) => Promise<ControlPlane>): Promise<OwnPlane> {
  const directory = mkdtempSync(path.join(tmpdir(), 'tintype-test-'))
  const plane = await open(directory)
  const abandon = () => rmSync(directory, { recursive: true, force: true })
  process.once('exit', abandon)
  const stop = async () => {
    await plane.stop()
    await rm(directory, { recursive: true, force: true })
    process.off('exit', abandon)
  }
  return { ...plane, directory, stop }
}

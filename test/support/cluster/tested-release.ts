import path from 'node:path'
import { environmentFile, releaseName, releaseNamespace } from '../../cluster/host/state.ts'

// The release that end-to-end tests use: that of `npm start`, or another one on the same cluster (test/scenarios/releases/stage/local-release.ts sets its variables).

const { TINTYPE_TEST_NAMESPACE: otherNamespace, TINTYPE_TEST_ENVIRONMENT: otherFile, TINTYPE_TEST_STORE: store = 'minio' } = process.env

/** Namespace of the release. */
export const NAMESPACE = otherNamespace ?? releaseNamespace

/** Name of the StatefulSet and the Service of the bundled store. The Secret of its root user is `<name>-root`. */
export const STORE = `${releaseName}-${store}`

/** File with TINTYPE_URL, TINTYPE_API_KEY and KUBECONFIG of the release. */
export const ENVIRONMENT_FILE = otherFile ?? environmentFile

/** Directory of kubectl and helm, which exists only for the embedded cluster. */
export const TOOLS = path.join(path.dirname(ENVIRONMENT_FILE), 'bin')

/** Reason to skip tests that stop parts of the cluster itself, because other releases use it too. Else false. */
export const sharedCluster = otherNamespace === undefined ? false : 'other releases use the cluster'

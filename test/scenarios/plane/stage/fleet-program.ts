/**
 * Many runner pods in one process for scenarios: simulated nodes as in the operator's tests, with captures of a given duration. Commands
 * arrive on standard input, one JSON object per line. Each gets a response line.
 */
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { upload } from '../../../../capture-runner/src/capture/upload.ts'
import { CaptureError } from '../../../../capture-runner/src/runtime/errors.ts'
import { accessFromKubeconfig } from '../../../../crds/client/cluster-access.ts'
import { KubeHttp } from '../../../../crds/client/kube-http.ts'
import { RUNNER_PORT } from '../../../../crds/src/identifiers/names.ts'
import { FakeNode, type FakeRunner } from '../../../integration/operator/node.ts'
import type { FleetOrder } from './program.ts'

const [kubeconfigPath = '', namespace = '', network = ''] = process.argv.slice(2)
const admin = new KubeHttp({ ...(await accessFromKubeconfig(kubeconfigPath)), namespace })
const node = new FakeNode({ admin, kubeconfigPath, port: RUNNER_PORT, network })
let captureMilliseconds = 200
/** Aborted when the duration changes. */
let changing = new AbortController()
/** Start times of captures, by the name of the Screenshot. */
const begun = new Map<string, number[]>()

node.capture = async ({ name }, runner) => {
  begun.set(name, [...(begun.get(name) ?? []), Date.now()])
  node.orders.length = 0
  runner.orders.length = 0
  await passDuration()
}

/** Resolves when a capture that begins now has taken as long as captures take. An order changes that for running captures, too. */
async function passDuration(): Promise<void> {
  const begin = performance.now()
  for (let left = captureMilliseconds; left > 0; left = captureMilliseconds - (performance.now() - begin)) {
    await sleep(left, undefined, { signal: changing.signal }).catch(() => {})
  }
}
let lost: FakeRunner[] = []

function loseHalf(): void {
  node.isLost = true
  lost = [...node.runners.values()].filter((_, place) => place % 2 === 0)
  for (const runner of lost) runner.freeze()
}

/** A frozen capture continues where it stopped, even if another runner has taken over. */
function findHalf(): void {
  node.isLost = false
  for (const runner of lost.splice(0)) runner.thaw()
}

// Repeats the upload until the attempt ends, as the real runner does.
node.store = async (order, text) => {
  const over = new AbortController()
  const timer = setTimeout(() => over.abort(new CaptureError('TIMEOUT', 'the attempt is over')), order.deadline - Date.now())
  try {
    return (await upload(Buffer.from(text), order.upload, over.signal)).etag
  } finally {
    clearTimeout(timer)
  }
}
await node.start()
console.log('{}') // it is ready

for await (const line of createInterface({ input: process.stdin })) {
  const order = JSON.parse(line) as FleetOrder
  if (order.captureMilliseconds !== undefined) {
    captureMilliseconds = order.captureMilliseconds
    changing.abort()
    changing = new AbortController()
  }
  if (order.loseHalf === true) loseHalf()
  if (order.loseHalf === false) findHalf()
  const repeated = [...begun].filter(([, times]) => times.length > 1).map(([name]) => name)
  const times = order.times ? Object.fromEntries([...begun].map(([name, [first = 0]]) => [name, first])) : {}
  console.log(JSON.stringify({ begun: begun.size, repeated, times, runners: node.runners.size, lost: lost.map(({ pod }) => pod) }))
}
await node.stop()
await admin.close()

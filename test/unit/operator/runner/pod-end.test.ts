import t from 'tap'
import type { Pod } from '../../../../crds/client/core-resources.ts'
import { endOf, isOrderly, isPageSuspected, lastLogLineOf } from '../../../../operator/src/runner/pod-end.ts'
import { at } from '../../../support/fakes/builders.ts'
import { aPod, endedStatus, readyStatus } from '../../../support/fakes/runners.ts'

const deletionTimestamp = at(10).toISOString()
const disrupted = (reason: string): Pod['status'] => ({
  ...readyStatus(),
  conditions: [{ type: 'DisruptionTarget', status: 'True', reason }],
})
const evicted = (message: string): Pod['status'] => ({ phase: 'Failed', reason: 'Evicted', message })

const ends: { name: string; pod: Pod; cause: string; text: RegExp }[] = [
  {
    name: 'out of memory as the kubelet reports it',
    pod: aPod({ status: endedStatus(1, 'OOMKilled') }),
    cause: 'outOfMemory',
    text: /^out of memory/,
  },
  { name: 'an unrequested kill', pod: aPod({ status: endedStatus(137) }), cause: 'killed', text: /137.*memory.*probe/ },
  { name: 'an exit code', pod: aPod({ status: endedStatus(3) }), cause: 'exited', text: /^exit code 3$/ },
  { name: 'a deleted pod', pod: aPod({ deletionTimestamp }), cause: 'stopped', text: /was deleted/ },
  { name: 'a deleted pod that finished', pod: aPod({ status: endedStatus(0), deletionTimestamp }), cause: 'stopped', text: /was deleted/ },
  {
    name: 'a deleted pod that was killed after its grace period, not as out of memory',
    pod: aPod({ status: endedStatus(137), deletionTimestamp }),
    cause: 'stopped',
    text: /was deleted/,
  },
  {
    name: 'out of memory of a pod that was being deleted',
    pod: aPod({ status: endedStatus(137, 'OOMKilled'), deletionTimestamp }),
    cause: 'outOfMemory',
    text: /memory/,
  },
  { name: 'a drain', pod: aPod({ status: disrupted('EvictionByEvictionAPI'), deletionTimestamp }), cause: 'drained', text: /drained/ },
  {
    name: 'a preemption',
    pod: aPod({ status: disrupted('PreemptionByScheduler'), deletionTimestamp }),
    cause: 'preempted',
    text: /priority/,
  },
  {
    name: 'a tainted node',
    pod: aPod({ status: disrupted('DeletionByTaintManager'), deletionTimestamp }),
    cause: 'nodeLost',
    text: /node/,
  },
  { name: 'a removed node', pod: aPod({ status: disrupted('DeletionByPodGC') }), cause: 'nodeLost', text: /node was removed/ },
  { name: 'a node that shuts down', pod: aPod({ status: disrupted('TerminationByKubelet') }), cause: 'nodePressure', text: /shut down/ },
  {
    name: 'a node without memory',
    pod: aPod({ status: evicted('The node was low on resource: memory. Threshold quantity: 100Mi, available: 90Mi.') }),
    cause: 'nodePressure',
    text: /^evicted: The node was low/,
  },
  {
    name: 'a pod that filled its disk',
    pod: aPod({ status: evicted('Usage of EmptyDir volume "tmp" exceeds the limit "2Gi". ') }),
    cause: 'overuse',
    text: /exceeds the limit "2Gi".$/,
  },
  {
    name: 'a pod that its node rejected',
    pod: aPod({ status: { phase: 'Failed', reason: 'OutOfmemory', message: 'Node didn’t have enough' } }),
    cause: 'exited',
    text: /^OutOfmemory: Node/,
  },
]
for (const { name, pod, cause, text } of ends) {
  t.test(`endOf recognizes ${name}`, async (t) => {
    const end = endOf(pod)
    t.equal(end?.cause, cause)
    t.match(end?.text, text)
  })
}

t.test('endOf returns nothing for a running pod', async (t) => t.equal(endOf(aPod()), undefined))

t.test('isPageSuspected is true only for ends that the page may have caused', async (t) => {
  const causes = [
    'outOfMemory',
    'overuse',
    'killed',
    'exited',
    'unknown',
    'nodeLost',
    'nodePressure',
    'drained',
    'preempted',
    'stopped',
  ] as const
  t.strictSame(
    causes.filter((cause) => isPageSuspected({ cause, text: '' })),
    ['outOfMemory', 'overuse', 'killed', 'exited', 'unknown'],
  )
  t.strictSame(
    causes.filter((cause) => isOrderly({ cause, text: '' })),
    ['drained', 'preempted', 'stopped'],
  )
})

t.test('lastLogLineOf returns the most relevant line', async (t) => {
  const ended = (message: string) => {
    const status = endedStatus(1)
    const terminated = status.containerStatuses?.[0]?.state?.terminated
    if (terminated) terminated.message = message
    return aPod({ status })
  }
  t.equal(lastLogLineOf(ended('starting\nError: listen EADDRINUSE\n    at main\n\nNode.js v26\n')), 'Error: listen EADDRINUSE')
  t.equal(lastLogLineOf(ended('a\nlast\n')), 'last')
  t.equal(lastLogLineOf(aPod({ status: endedStatus(1) })), undefined)
})

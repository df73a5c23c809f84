import t from 'tap'
import { findCondition } from '../../../../crds/src/conditions.ts'
import type { RunnerPool } from '../../../../crds/src/kinds/runner-pool.ts'
import { buildStatus } from '../../../../operator/src/pool/conditions.ts'
import { group, type PoolObserved } from '../../../../operator/src/pool/decide.ts'
import { aRunnerPool, NOON } from '../../../support/builders.ts'
import { aRunner } from '../../../support/runners.ts'

type Sandbox = NonNullable<RunnerPool['spec']['sandbox']>

/** What the pool says of runners on a node that allows no sandbox. */
function conditionsOf(sandbox: Sandbox, detail = 'unshare: Operation not permitted') {
  const observed: PoolObserved & { pool: RunnerPool } = {
    pool: aRunnerPool({ spec: { sandbox } }),
    runners: [aRunner({ sandbox: { chromiumSandbox: false, jail: false, detail } })],
    unseen: 0,
    nextOrdinal: 2,
    templateHash: 'current',
    queued: 0,
    accountsWaiting: [],
    meanCaptureMilliseconds: 1_000,
    guard: { guarded: true, reason: 'PolicyInForce', message: 'in force' },
    memory: { surplusSince: undefined, lackSince: undefined, failedStarts: 0, lastFailureAt: 0, lastFailure: '', statusWrittenAt: 0 },
  }
  const { conditions } = buildStatus(observed, group(observed, NOON.getTime()), NOON)
  const { Ready, Sandboxed } = Object.fromEntries(['Ready', 'Sandboxed'].map((type) => [type, findCondition(conditions, type)]))
  return { Ready, Sandboxed }
}

t.test('buildStatus says that runners without a sandbox work for one account each, and what to do', async (t) => {
  const { Ready, Sandboxed } = conditionsOf({ mode: 'auto' })
  t.match(Ready, { status: 'True', reason: 'RunnersReady' })
  t.match(Sandboxed, {
    status: 'False',
    reason: 'BrowserNotFenced',
    message: /a pod serves one account.*not permitted\. Remedy: put the seccomp/,
  })
})

t.test('buildStatus says why nothing is captured when the pool requires a sandbox that its runners do not have', async (t) => {
  const { Ready, Sandboxed } = conditionsOf({ mode: 'required' })
  t.match(Ready, { status: 'False', reason: 'SandboxRequired', message: /nothing is captured.*Sandboxed/ })
  t.match(Sandboxed, { status: 'False', reason: 'BrowserNotFenced', message: /not permitted\. Remedy: put the seccomp/ })
  t.notMatch(Sandboxed?.message, /one account/)
})

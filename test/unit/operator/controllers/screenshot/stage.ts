// The controllers of captures, on an API server and a bucket in memory, with one runner that responds as the test says.

import type { Test } from 'tap'
import { accounts, pods, runnerPools, screenshots } from '../../../../../crds/client/kinds.ts'
import type { CaptureOrder } from '../../../../../crds/src/dispatch/dispatch.ts'
import type { Screenshot } from '../../../../../crds/src/kinds/screenshot.ts'
import type { Charge } from '../../../../../operator/src/controllers/quota/charges.ts'
import { createRunnerPoolControllers } from '../../../../../operator/src/controllers/runner-pool/controller.ts'
import { createScreenshotControllers, type ScreenshotControllers } from '../../../../../operator/src/controllers/screenshot/controller.ts'
import type { RunnerIdentity } from '../../../../../operator/src/runner/identity.ts'
import type { DispatchOutcome, RunnerResponse } from '../../../../../operator/src/runner/runner-client.ts'
import { startControllers } from '../../../../../operator/src/runtime/deps.ts'
import { createMetrics } from '../../../../../operator/src/runtime/metrics.ts'
import { buildTermState, type TermState } from '../../../../../operator/src/scheduling/term-state.ts'
import { anAccount, aRunnerPool, aScreenshot } from '../../../../support/fakes/builders.ts'
import { startOperator } from '../../../../support/fakes/operator-stage.ts'
import { aPod, quiet } from '../../../../support/fakes/runners.ts'

const sandbox = { chromiumSandbox: true, jail: true, detail: '' }
const identity: RunnerIdentity = { key: {} as never, sandbox, version: '1', captures: 0, accountName: undefined }

export type CaptureStage = Awaited<ReturnType<typeof startCaptures>>

/** Starts a leader with the accounts `default` and `red`, the default pool and an idle runner. `charge`: absent, nothing is charged. */
export async function startCaptures(t: Test, charge?: Charge) {
  const operator = await startOperator(t)
  const { cluster, settle } = operator
  const pod = cluster.put(pods, aPod())
  cluster.put(runnerPools, aRunnerPool())
  for (const name of ['default', 'red']) cluster.put(accounts, anAccount({ name }))
  await settle()
  const orders: CaptureOrder[] = []
  const cancelled: string[] = []
  const runner = {
    accept: (): DispatchOutcome => ({ outcome: 'accepted' }),
    report: (): RunnerResponse => ({ response: 'running' }),
  }
  const client = {
    async post(_: unknown, __: unknown, order: CaptureOrder) {
      orders.push(order)
      return runner.accept()
    },
    // A long poll that does not end.
    getCapture: (_: unknown, __: string, ___: number, wait?: object) => (wait ? new Promise(() => {}) : Promise.resolve(runner.report())),
    cancel: async ({ ip }: { ip: string }, uid: string) => void cancelled.push(`${uid} at ${ip}`),
  } as unknown as TermState['client']
  operator.lead((term) => {
    const onAssigned = (key: string) => controllers.enqueue(key)
    const state = buildTermState({ deps: term, sign: undefined as never, isGuarded: () => true, onAssigned })
    state.runners.noteIdentity(pod.metadata.uid ?? '', identity, term.now().getTime())
    const controllers: ScreenshotControllers = createScreenshotControllers({
      ...{ ...term, ...state, client, metrics: createMetrics().screenshot },
      ...(charge ? { charge } : {}),
    })
    const pools = createRunnerPoolControllers({
      ...{ ...term, ...state, client, metrics: createMetrics().pool, onIdentified: () => {} },
      guard: () => quiet.guard,
    })
    return startControllers([...controllers.controllers, ...pools.controllers])
  })
  const get = (name: string) => cluster.get<Screenshot>(screenshots, name)
  return {
    ...operator,
    ...{ orders, cancelled, runner, pod, get },
    /** Adds a Screenshot, queued unless it has another status. */
    async add(given: Parameters<typeof aScreenshot>[0] = {}): Promise<Screenshot> {
      const { metadata } = cluster.put<Screenshot>(screenshots, aScreenshot(given))
      await settle()
      return get(metadata.name)!
    },
    async remove(name: string): Promise<void> {
      cluster.remove(screenshots, name)
      await settle()
    },
    conditionsOf: (name: string) => (get(name)?.status?.conditions ?? []).map(({ type, status, reason }) => `${type}=${status} ${reason}`),
  }
}

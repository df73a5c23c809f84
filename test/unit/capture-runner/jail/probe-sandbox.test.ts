import t from 'tap'
import { describeProblems } from '../../../../capture-runner/src/jail/probe-sandbox.ts'
import { SandboxReport } from '../../../../crds/src/dispatch/dispatch.ts'

t.test('the operator accepts the report of a runner with many problems of its isolation', async (t) => {
  const detail = describeProblems(Array.from({ length: 20 }, (_, n) => `attack ${n} failed: ${'x'.repeat(100)}`))
  t.match(detail, /^attack 0 failed/)
  t.ok(SandboxReport.safeParse({ chromiumSandbox: false, jail: false, detail }).success, `${detail.length} characters`)
  t.equal(describeProblems([]), 'jail and sandbox work')
})

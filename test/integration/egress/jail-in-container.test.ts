// The jail under a /proc that is partly covered, as container runtimes leave it: there the kernel refuses a fresh one.

import { becomeRunner } from '../../support/processes/as-runner.ts'
import { openTestJail, runInPlace, testJail } from './jail-probes.ts'

becomeRunner(import.meta.filename, { coveredProc: true })
const { default: t } = await import('tap')

t.test('Jail covers the runner’s own entry where /proc has to stay', async (t) => {
  const shown = await runInPlace(await openTestJail(t), 'ls', [`/proc/${process.pid}`])
  t.equal(shown, '')
  t.match(await runInPlace(undefined, 'ls', [`/proc/${process.pid}`]), /environ/, 'the control')
})

testJail(t)

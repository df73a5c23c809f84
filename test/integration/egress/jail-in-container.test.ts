// The jail under a partly covered /proc, as in a container, where the kernel refuses to mount a new one.

import { becomeRunner } from '../../support/processes/as-runner.ts'
import { openTestJail, runInPlace, testJail } from './jail-probes.ts'

becomeRunner(import.meta.filename, { coveredProc: true })
const { default: t } = await import('tap')

t.test('Jail covers the runner’s own /proc entry where it cannot mount a new /proc', async (t) => {
  const shown = await runInPlace(await openTestJail(t), 'ls', [`/proc/${process.pid}`])
  t.equal(shown, '')
  t.match(await runInPlace(undefined, 'ls', [`/proc/${process.pid}`]), /environ/, 'the control')
})

testJail(t)

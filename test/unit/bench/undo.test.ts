import t from 'tap'
import { undoing } from '../../bench/report/undo.ts'

t.test('undoing undoes after the act, and gives what the act gave', async (t) => {
  const steps: string[] = []
  const undo = async () => steps.push('undone')
  t.equal(await undoing(undo, async () => steps.push('done')), 1)
  t.strictSame(steps, ['done', 'undone'])
})

t.test('undoing undoes when the act fails, and fails as it did', async (t) => {
  const steps: string[] = []
  const failing = undoing(
    async () => steps.push('undone'),
    async () => {
      throw new Error('the act')
    },
  )
  await t.rejects(failing, { message: 'the act' })
  t.strictSame(steps, ['undone'])
})

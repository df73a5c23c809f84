import t from 'tap'
import { undoing } from '../../bench/report/undo.ts'

t.test('undoing undoes after the action and returns its result', async (t) => {
  const steps: string[] = []
  const undo = async () => steps.push('undone')
  t.equal(await undoing(undo, async () => steps.push('done')), 1)
  t.strictSame(steps, ['done', 'undone'])
})

t.test('undoing undoes after a failed action and rethrows its error', async (t) => {
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

import t from 'tap'
import { pressKey } from '../../../../../capture-runner/src/steps/preparing/click.ts'
import type { Work } from '../../../../../capture-runner/src/steps/step.ts'

t.test(
  'on a busy machine, the key was pressed before the browser had focused an element with autofocus, which needs a frame',
  async (t) => {
    const calls: string[] = []
    const work = {
      plan: { pressKey: 'a' },
      signal: new AbortController().signal,
      tab: {
        page: { keyboard: { press: async (key: string) => void calls.push(key) } },
        evaluate: async () => void calls.push('frame'),
      },
      newTabs: { during: (_action: string, act: () => Promise<void>) => act() },
    } as unknown as Work
    await pressKey.run(work)
    t.strictSame(calls, ['frame', 'a'])
  },
)

import t from 'tap'
import { growthOf, type ProgramProcess, priceOf, takeSample } from '../../../bench/price/growth.ts'

const aProcess = (pid: number, used: number, more: Partial<ProgramProcess> & { parent?: number; usedByChildren?: number } = {}) => {
  const { parent = 0, usedByChildren = 0, ...rest } = more
  const state = { pid, parent, name: '', started: 7, used, usedByChildren }
  return { state, program: 'other', isZygote: false, isRenderer: false, ...rest }
}
const zygote = (pid: number, used: number, more = {}) => aProcess(pid, used, { program: 'renderers', isZygote: true, ...more })
const renderer = (pid: number, used: number, parent: number) => aProcess(pid, used, { program: 'renderers', isRenderer: true, parent })

t.test('growthOf adds up the processes of a program, and counts new ones whole', async (t) => {
  const before = takeSample([aProcess(1, 5, { program: 'etcd' }), aProcess(2, 1)])
  const after = takeSample([aProcess(1, 8, { program: 'etcd' }), aProcess(2, 1.5), aProcess(3, 4)])
  t.strictSame(growthOf(before, after), { etcd: 3, other: 4.5 })
})

t.test('growthOf counts a renderer that ended between the samples once', async (t) => {
  const before = takeSample([zygote(1, 1), zygote(2, 1, { parent: 1 }), renderer(3, 10, 2)])
  const after = takeSample([zygote(1, 1), zygote(2, 1, { parent: 1, usedByChildren: 12 }), renderer(4, 3, 2)])
  t.strictSame(growthOf(before, after), { renderers: 5 })
})

t.test('growthOf ignores a program that ended, and a new process with the number of an old one counts from zero', async (t) => {
  const before = takeSample([aProcess(1, 5), aProcess(2, 9)])
  const { state, ...rest } = aProcess(2, 1)
  t.strictSame(growthOf(before, takeSample([{ ...rest, state: { ...state, started: 8 } }])), { other: 1 })
})

t.test('priceOf is in milliseconds and leaves out what is used at rest', async (t) => {
  t.strictSame(priceOf({ etcd: 3, runner: 1 }, { seconds: 10, pictures: 4, idle: { etcd: 0.1 } }), { etcd: 500, runner: 250 })
})

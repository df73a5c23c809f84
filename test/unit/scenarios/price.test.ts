import t from 'tap'
import { paths } from '../../cluster/host/state.ts'
import {
  growthOf,
  type ProgramProcess,
  podUidOf,
  priceOf,
  programInPod,
  programOfCluster,
  takeSample,
} from '../../scenarios/cluster/stage/programs.ts'

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

const CHROMIUM = '/usr/lib/chromium/chromium-headless-shell'

t.test('programInPod distinguishes the process types of Chromium', async (t) => {
  const of = (...args: string[]) => programInPod([CHROMIUM, ...args], 'capture-runner')
  t.equal(of('--headless'), 'Chromium: browser')
  t.equal(of('--type=zygote', '--no-zygote-sandbox'), 'Chromium: renderers')
  t.equal(of('--type=renderer'), 'Chromium: renderers')
  t.equal(of('--type=gpu-process'), 'Chromium: gpu')
  t.equal(of('--type=utility', '--utility-sub-type=network.mojom.NetworkService'), 'Chromium: network')
  t.equal(of('--type=utility', '--utility-sub-type=storage.mojom.StorageService'), 'Chromium: other')
  t.equal(programInPod([`${CHROMIUM} --type=renderer --lang=en`], 'capture-runner'), 'Chromium: renderers', 'a title in one word')
})

t.test('programInPod distinguishes the programs of a release', async (t) => {
  t.equal(programInPod(['node', '/app/main.mjs'], 'capture-runner'), 'runner: Node.js')
  t.equal(programInPod(['node', '/app/main.mjs'], 'operator'), 'operator')
  t.equal(programInPod(['/usr/bin/minio', 'server'], 'minio'), 'store')
  t.equal(programInPod(['/usr/bin/tini', '--', 'node'], 'capture-runner'), undefined)
})

t.test('programOfCluster ignores programs of tests', async (t) => {
  t.equal(programOfCluster(['/bin/etcd', '--data-dir', paths.etcd]), 'etcd')
  t.equal(programOfCluster(['/bin/etcd', '--data-dir', '/tmp/etcd']), undefined)
  t.equal(programOfCluster(['/bin/kube-scheduler', paths.pki]), undefined)
})

t.test('podUidOf reads the control group of a pod', async (t) => {
  const uid = '0f0e7a5c-3a64-4a6f-9d37-95a2f4d4bb12'
  t.equal(podUidOf(`4:cpuacct:/tintype/kubepods/burstable/pod${uid}/abc\n`), uid)
  t.equal(podUidOf('0::/user.slice\n'), undefined)
})

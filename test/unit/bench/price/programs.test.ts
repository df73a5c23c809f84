import t from 'tap'
import { podUidOf, programInPod, programOfCluster } from '../../../bench/price/programs.ts'
import { paths } from '../../../cluster/host/state.ts'

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

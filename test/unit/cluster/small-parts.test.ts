import t from 'tap'
import { missingOf } from '../../cluster/host/packages.ts'
import { buildIndex } from '../../cluster/images/load.ts'
import { imageReference } from '../../cluster/images/plan.ts'
import { ownMounts } from '../../cluster/kubernetes/down.ts'
import { subjectOf } from '../../cluster/kubernetes/pki.ts'
import { digestOf, followBuild, versionFlags } from '../../cluster/programs/programs.ts'
import { parseEnvironment } from '../../cluster/release/first-capture.ts'

t.test('missingOf lists packages that are absent, removed or not completely installed', async (t) => {
  const output = 'ii  containerd\nrc  runc\niF  buildah\nii  etcd-server\n'
  t.strictSame(missingOf(['containerd', 'runc', 'buildah', 'etcd-server', 'skopeo'], output), ['runc', 'buildah', 'skopeo'])
})

t.test('ownMounts lists only mounts below the directories, deepest first', async (t) => {
  const mounts = [
    'overlay / overlay rw 0 0',
    'tmpfs /run tmpfs rw 0 0',
    'tmpfs /run/tintype/shm tmpfs rw 0 0',
    'nsfs /run/tintype/containerd/netns/a nsfs rw 0 0',
    'nsfs /run/tintype-images/b nsfs rw 0 0',
    'tmpfs /home/a\\040b/cluster/kubelet tmpfs rw 0 0',
    '',
  ].join('\n')
  t.strictSame(ownMounts(mounts, ['/run/tintype', '/home/a b/cluster']), [
    '/run/tintype/containerd/netns/a',
    '/home/a b/cluster/kubelet',
    '/run/tintype/shm',
  ])
})

t.test('subjectOf writes user and groups in the form that Kubernetes reads', async (t) => {
  t.equal(subjectOf({ user: 'system:node:node1', groups: ['system:nodes', 'others'] }), '/O=system:nodes/O=others/CN=system:node:node1')
})

t.test('subjectOf rejects a slash, which would start another field', async (t) => {
  t.throws(() => subjectOf({ user: 'a/O=system:masters' }), RangeError)
  t.throws(() => subjectOf({ user: 'a', groups: ['b/c'] }), RangeError)
})

t.test('digestOf differs when the boundary between two parts moves', async (t) => {
  t.not(digestOf(['ab', 'c']), digestOf(['a', 'bc']))
  t.match(digestOf(['a']), /^[0-9a-f]{12}$/)
})

t.test('versionFlags set version, major and minor', async (t) => {
  t.strictSame(versionFlags('k8s.io/x/version', 'v1.34.4'), [
    '-X k8s.io/x/version.gitVersion=v1.34.4',
    '-X k8s.io/x/version.gitMajor=1',
    '-X k8s.io/x/version.gitMinor=34',
    '-X k8s.io/x/version.gitTreeState=clean',
  ])
})

t.test('imageReference names images under localhost', async (t) =>
  t.equal(imageReference('operator', 'dev'), 'localhost/tintype/operator:dev'),
)

t.test('buildIndex names the manifest in the form that containerd imports', async (t) => {
  const descriptor = {
    mediaType: 'application/vnd.oci.image.manifest.v1+json',
    digest: 'sha256:aa',
    size: 7,
    annotations: { 'org.opencontainers.image.ref.name': 'x' },
  }
  t.strictSame(JSON.parse(buildIndex('localhost/tintype/x:1', descriptor)).manifests, [
    { mediaType: descriptor.mediaType, digest: 'sha256:aa', size: 7, annotations: { 'io.containerd.image.name': 'localhost/tintype/x:1' } },
  ])
})

t.test('parseEnvironment reads names and values and ignores other lines', async (t) => {
  const text = '# comment\nTINTYPE_URL=http://127.0.0.1:18080\nTINTYPE_API_KEY=ab=c\n\nnonsense\n'
  t.strictSame(
    [...parseEnvironment(text)],
    [
      ['TINTYPE_URL', 'http://127.0.0.1:18080'],
      ['TINTYPE_API_KEY', 'ab=c'],
    ],
  )
})

t.test('followBuild counts downloaded modules and compiled packages, and ignores other lines', async (t) => {
  const told: string[] = []
  const onLine = followBuild((text) => told.push(text))
  for (const line of [
    'go: downloading k8s.io/api v0.34.4',
    'go: downloading k8s.io/utils v0.0.0',
    'golang.org/x/text/cases',
    '# warning: odd',
    'k8s.io/api/core/v1',
    '',
  ])
    onLine(line)
  t.strictSame(told, ['downloading: 1 modules', 'downloading: 2 modules', 'compiling: 1 packages', 'compiling: 2 packages'])
})

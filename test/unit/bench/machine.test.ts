import t from 'tap'
import { describeStore } from '../../bench/report/machine.ts'
import { paths } from '../../cluster/host/state.ts'

t.test('describeStore reports whether the local cluster’s etcd waits for the disk', async (t) => {
  const etcd = ['/usr/bin/etcd', '--data-dir', paths.etcd]
  t.match(describeStore([['sh'], etcd]), /waits for the disk at each write/)
  t.match(describeStore([['sh'], [...etcd, '--unsafe-no-fsync']]), /does not wait/)
})

t.test('describeStore reports an unknown durability when the local cluster has no etcd', async (t) => {
  t.match(describeStore([['etcd', '--data-dir', '/var/lib/other']]), /unknown durability/)
})

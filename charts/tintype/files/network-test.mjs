// Run by `helm test` in two pods: one labelled as a runner, one as nothing of the release. Each reaches one place that the NetworkPolicies
// open to it, which shows that the network works, and must not reach one that they close.
import { connect } from 'node:net'

const [role, open, closed] = process.argv.slice(-3)
const PATIENCE_MILLISECONDS = 5_000
const OPEN_ATTEMPTS = 12

const reaches = (place) =>
  new Promise((resolve) => {
    const [host, port] = place.split(':')
    const socket = connect({ host, port: Number(port), timeout: PATIENCE_MILLISECONDS })
    const end = (result) => {
      socket.destroy()
      resolve(result)
    }
    socket
      .on('connect', () => end('connected'))
      .on('timeout', () => end('no answer'))
      .on('error', ({ code }) => end(code))
  })

let opened = 'not tried'
for (let attempt = 0; attempt < OPEN_ATTEMPTS && opened !== 'connected'; attempt++) {
  opened = await reaches(open)
  if (opened !== 'connected') await new Promise((resolve) => setTimeout(resolve, 1_000))
}
const refused = await reaches(closed)
console.log(`${role}: ${open} ${opened} (must connect); ${closed} ${refused} (must not)`)
if (opened !== 'connected') {
  console.log('The control failed: what the policies open is not reachable. See that the release runs: kubectl get pods')
  process.exit(1)
}
if (refused === 'connected') {
  console.log(
    'NetworkPolicies are NOT enforced in this cluster: its network plugin ignores them. The runner’s own egress guard still stands.',
  )
  process.exit(1)
}

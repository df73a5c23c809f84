// All spellings of private targets, for the tests of captures, the gateway and webhooks. Every entry names the rule that allows it. Each attack runs
// twice: with the rule it must succeed (otherwise the test proves nothing), and without it must fail.

/** One spelling of an IP address that pages must not reach. */
export interface LiteralAttack {
  /** The host as written in a URL, with IPv6 in brackets. */
  host: string
  /** The IP address after URL parsing. */
  means: string
  /** Entries of `allowedCidrs` that allow exactly this address. */
  opens: string[]
}

/** One name that is internal by its text alone. */
export interface NameAttack {
  host: string
  /** Entry of `allowedHosts` that allows it. */
  opens: string
}

const literals = (means: string, opens: string[], hosts: string[]): LiteralAttack[] => hosts.map((host) => ({ host, means, opens }))

const LOOPBACK = ['127.0.0.0/8']
const METADATA = ['169.254.169.254/32']

/** Spellings of addresses. The canonical one of an address comes first. */
export const LITERAL_ATTACKS: readonly LiteralAttack[] = [
  ...literals('127.0.0.1', LOOPBACK, ['127.0.0.1', '127.1', '127.0.1', '127.0.0.1.', '2130706433', '017700000001', '0x7f000001']),
  ...literals('127.0.0.1', LOOPBACK, ['0x7F.0.0.1', '0x7f.1', '0177.0.0.1', '0177.0.0.01', '0x7f.0x0.0x0.0x1', '127.0x1', '00000177.1']),
  ...literals('127.0.0.1', LOOPBACK, ['%31%32%37.0.0.1', '127%2e0%2e0%2e1', '127。0。0。1', '127.0.0.1', '①②⑦.⓪.⓪.①']),
  ...literals('127.0.0.1', LOOPBACK, ['[::ffff:127.0.0.1]', '[::ffff:7f00:1]', '[0:0:0:0:0:ffff:7f00:0001]', '[::FFFF:7F00:1]']),
  ...literals('127.255.255.254', ['127.0.0.0/8'], ['127.255.255.254']),
  ...literals('0.0.0.0', ['0.0.0.0/8'], ['0.0.0.0', '0', '0x0', '00.00', '[::ffff:0:0]']),
  ...literals('0.0.0.1', ['0.0.0.0/8'], ['0.0.0.1', '1']),
  ...literals('::1', ['::1/128'], ['[::1]', '[0:0:0:0:0:0:0:1]', '[0000::0001]', '[::0.0.0.1]']),
  ...literals('::', ['::/128'], ['[::]', '[0::0]']),
  ...literals('::7f00:1', ['::/96', '127.0.0.0/8'], ['[::127.0.0.1]', '[::7f00:1]']),
  ...literals('169.254.169.254', METADATA, [
    '169.254.169.254',
    '2852039166',
    '0xa9fea9fe',
    '0251.0376.0251.0376',
    '169.254.43518',
    '169.16689662',
    '0xa9.254.0251.0xfe',
  ]),
  ...literals('169.254.169.254', METADATA, ['[::ffff:169.254.169.254]', '[::ffff:a9fe:a9fe]']),
  ...literals('64:ff9b::a9fe:a9fe', ['64:ff9b::/96', '169.254.169.254/32'], ['[64:ff9b::169.254.169.254]', '[64:ff9b::a9fe:a9fe]']),
  ...literals('2002:a9fe:a9fe::', ['2002::/16', '169.254.169.254/32'], ['[2002:a9fe:a9fe::]']),
  ...literals('64:ff9b:1::a00:1', ['64:ff9b:1::/48', '10.0.0.0/8'], ['[64:ff9b:1::10.0.0.1]']),
  ...literals('::ffff:0:7f00:1', ['::ffff:0:0:0/96', '127.0.0.0/8'], ['[::ffff:0:127.0.0.1]']),
  ...literals('2001:0:808:808::f5ff:fffe', ['2001::/32', '10.0.0.0/8'], ['[2001:0:808:808:0:0:f5ff:fffe]']),
  ...literals('169.254.170.2', ['169.254.170.2/32'], ['169.254.170.2']),
  ...literals('100.100.100.200', ['100.100.100.200/32'], ['100.100.100.200', '1684301000', '0x64.100.25800', '[::ffff:6464:64c8]']),
  ...literals('100.64.0.1', ['100.64.0.0/10'], ['100.64.0.1']),
  ...literals('168.63.129.16', ['168.63.129.16/32'], ['168.63.129.16']),
  ...literals('192.0.0.192', ['192.0.0.192/32'], ['192.0.0.192']),
  ...literals('10.0.0.1', ['10.0.0.0/8'], ['10.0.0.1', '10.1', '167772161', '0xa.0.0.1', '012.0.0.1', '[::ffff:a00:1]']),
  ...literals('172.16.0.1', ['172.16.0.0/12'], ['172.16.0.1', '0xac100001']),
  ...literals('172.31.255.255', ['172.16.0.0/12'], ['172.31.255.255']),
  ...literals('192.168.0.1', ['192.168.0.0/16'], ['192.168.0.1', '192.168.1', '3232235521']),
  ...literals('192.0.2.1', ['192.0.2.0/24'], ['192.0.2.1']),
  ...literals('192.88.99.1', ['192.88.99.0/24'], ['192.88.99.1']),
  ...literals('198.18.0.1', ['198.18.0.0/15'], ['198.18.0.1']),
  ...literals('198.51.100.1', ['198.51.100.0/24'], ['198.51.100.1']),
  ...literals('203.0.113.1', ['203.0.113.0/24'], ['203.0.113.1']),
  ...literals('224.0.0.1', ['224.0.0.0/4'], ['224.0.0.1']),
  ...literals('240.0.0.1', ['240.0.0.0/4'], ['240.0.0.1']),
  ...literals('255.255.255.255', ['255.255.255.255/32'], ['255.255.255.255', '4294967295', '0xffffffff']),
  ...literals('fd00::1', ['fc00::/7'], ['[fd00::1]', '[FD00:0:0::1]']),
  ...literals('fd00:ec2::254', ['fd00:ec2::254/128'], ['[fd00:ec2::254]']),
  ...literals('fd20:ce::254', ['fd20:ce::254/128'], ['[fd20:ce::254]']),
  ...literals('fe80::1', ['fe80::/10'], ['[fe80::1]']),
  ...literals('fec0::1', ['fec0::/10'], ['[fec0::1]']),
  ...literals('ff02::1', ['ff00::/8'], ['[ff02::1]']),
  ...literals('100::1', ['100::/64'], ['[100::1]']),
  ...literals('2001:db8::1', ['2001:db8::/32'], ['[2001:db8::1]']),
  ...literals('3fff::1', ['3fff::/20'], ['[3fff::1]']),
  ...literals('5f00::1', ['5f00::/16'], ['[5f00::1]']),
  ...literals('4000::1', ['4000::/16'], ['[4000::1]']),
]

/** Names that are rejected by their text. Other tests cover what they resolve to. */
export const NAME_ATTACKS: readonly NameAttack[] = [
  { host: 'localhost', opens: 'localhost' },
  { host: 'LOCALHOST', opens: 'localhost' },
  { host: 'localhost.', opens: 'localhost' },
  { host: 'ⓛocalhost', opens: 'localhost' },
  { host: 'a.b.localhost', opens: '*.localhost' },
  { host: 'localhost.localdomain', opens: 'localhost.localdomain' },
  { host: 'kubernetes', opens: 'kubernetes' },
  { host: 'kubernetes.default.svc', opens: 'kubernetes.default.svc' },
  { host: 'kubernetes.default.svc.', opens: 'kubernetes.default.svc' },
  { host: 'kubernetes.default.svc.cluster.local', opens: '*.svc.cluster.local' },
  { host: 'Kubernetes.Default.SVC.Cluster.Local.', opens: '*.default.svc.cluster.local' },
  { host: '10-0-0-1.default.pod.cluster.local', opens: '*.cluster.local' },
  { host: 'metadata.google.internal', opens: 'metadata.google.internal' },
  { host: 'instance-data.ec2.internal', opens: '*.ec2.internal' },
  { host: 'printer.local', opens: 'printer.local' },
  { host: 'router.home.arpa', opens: '*.home.arpa' },
  { host: 'example.com.', opens: 'example.com' },
]

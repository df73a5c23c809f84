import type { Kind, WrittenPage } from './page.ts'
import { chartBody, DATA, text } from './pieces.ts'

type Rest = Omit<WrittenPage, 'name' | 'kind' | 'body'> & { body?: string }
const page = (kind: Kind, name: string, { run = '', body = chartBody(), ...rest }: Rest): WrittenPage => ({
  name,
  kind,
  body,
  run: `${DATA}${run}`,
  ...rest,
})
/** A chart that the code `draw` draws into each of two boxes. */
const chart = (name: string, { draw, ...rest }: Omit<Rest, 'run'> & { draw: string }): WrittenPage =>
  page('chart', name, { ...rest, run: both(draw) })
const canvas = { body: chartBody('canvas') }
const both = (draw: string): string => `for (const id of ['first', 'second']) { const box = document.getElementById(id); ${draw} }`

export const charts: readonly WrittenPage[] = [
  chart('chart-js-bars', {
    load: ['chart.js/dist/chart.umd.min.js'],
    draw: `new Chart(box, { type: 'bar', data: { labels: months, datasets: [{ label: 'Boats', data: series }, { label: 'Fish', data: other }] } })`,
    ...canvas,
  }),
  chart('chart-js-pie', {
    load: ['chart.js/dist/chart.umd.min.js'],
    draw: `new Chart(box, { type: 'doughnut', data: { labels: months, datasets: [{ data: series }] }, options: { animation: { duration: 1500 } } })`,
    body: `<main><h1>Shares</h1><div style="width:520px"><canvas id="first"></canvas></div>${text(5)}<div style="width:520px"><canvas id="second"></canvas></div></main>`,
  }),
  chart('echarts-bars', {
    load: ['echarts/dist/echarts.min.js'],
    draw: `echarts.init(box).setOption({ xAxis: { data: months }, yAxis: {}, series: [{ type: 'bar', data: series }, { type: 'line', smooth: true, data: other }] })`,
  }),
  chart('echarts-pie', {
    load: ['echarts/dist/echarts.min.js'],
    draw: `echarts.init(box, null, { renderer: 'svg' }).setOption({ series: [{ type: 'pie', radius: ['30%', '70%'], data: rows.map(({ month, value }) => ({ name: month, value })) }] })`,
  }),
  chart('echarts-late', {
    load: ['echarts/dist/echarts.min.js'],
    draw: `const late = echarts.init(box); late.showLoading(); const { items } = await (await fetch('/slow/350/api/items.json')).json(); late.hideLoading(); late.setOption({ xAxis: { type: 'category', data: items.map(({ title }) => title) }, yAxis: {}, series: [{ type: 'bar', data: items.map(({ price }) => price) }] })`,
  }),
  chart('d3-bars', {
    load: ['d3/dist/d3.min.js'],
    draw: `d3.select(box).append('svg').attr('width', 1100).attr('height', 500).selectAll('rect').data(series).join('rect').attr('x', (_, i) => i * 90).attr('width', 70).attr('y', 500).attr('height', 0).attr('fill', '#2a9d8f').transition().duration(900).delay((_, i) => i * 60).attr('y', (d) => 500 - d * 14).attr('height', (d) => d * 14)`,
  }),
  chart('d3-force', {
    load: ['d3/dist/d3.min.js'],
    draw: `const nodes = d3.range(40).map((id) => ({ id })), links = d3.range(1, 40).map((id) => ({ source: id, target: Math.floor(id / 3) }))
    const svg = d3.select(box).append('svg').attr('viewBox', '-300 -250 600 500').attr('height', 500)
    const line = svg.selectAll('line').data(links).join('line').attr('stroke', '#999'), dot = svg.selectAll('circle').data(nodes).join('circle').attr('r', 7).attr('fill', '#b8452e')
    d3.forceSimulation(nodes).force('link', d3.forceLink(links)).force('charge', d3.forceManyBody()).force('x', d3.forceX()).force('y', d3.forceY()).on('tick', () => { line.attr('x1', (d) => d.source.x).attr('y1', (d) => d.source.y).attr('x2', (d) => d.target.x).attr('y2', (d) => d.target.y); dot.attr('cx', (d) => d.x).attr('cy', (d) => d.y) })`,
    moves: true,
  }),
  chart('plotly', {
    load: ['plotly.js-dist-min/plotly.min.js'],
    draw: `Plotly.newPlot(box, [{ x: months, y: series, type: 'bar', name: 'Boats' }, { x: months, y: other, type: 'scatter', name: 'Fish' }])`,
  }),
  chart('highcharts', {
    load: ['highcharts/highcharts.js'],
    draw: `Highcharts.chart(box, { title: { text: 'Landings' }, xAxis: { categories: months }, series: [{ type: 'column', data: series }, { type: 'spline', data: other }] })`,
  }),
  chart('apexcharts', {
    load: ['apexcharts/dist/apexcharts.min.js'],
    draw: `new ApexCharts(box, { chart: { type: 'area', height: 500 }, series: [{ name: 'Boats', data: series }, { name: 'Fish', data: other }], xaxis: { categories: months } }).render()`,
  }),
  chart('apexcharts-radial', {
    load: ['apexcharts/dist/apexcharts.min.js'],
    draw: `new ApexCharts(box, { chart: { type: 'radialBar', height: 480 }, series: [70, 45, 88] , labels: ['Boats', 'Fish', 'Rope'] }).render()`,
  }),
  chart('uplot', {
    load: ['uplot/dist/uPlot.min.css', 'uplot/dist/uPlot.iife.min.js'],
    draw: `new uPlot({ width: 1100, height: 460, scales: { x: { time: false } }, series: [{}, { stroke: 'red', label: 'Boats' }, { stroke: 'blue', label: 'Fish' }] }, [series.map((_, i) => i), series, other], box)`,
  }),
  chart('vega', {
    load: ['vega/build/vega.min.js', 'vega-lite/build/vega-lite.min.js', 'vega-embed/build/vega-embed.min.js'],
    draw: `vegaEmbed(box, { width: 1000, height: 400, data: { values: rows }, mark: 'bar', encoding: { x: { field: 'month', sort: null }, y: { field: 'value', type: 'quantitative' }, color: { field: 'other', type: 'quantitative' } } })`,
  }),
  chart('frappe-charts', {
    load: ['frappe-charts/dist/frappe-charts.min.umd.js'],
    draw: `new frappe.Chart(box, { type: 'axis-mixed', height: 480, data: { labels: months, datasets: [{ name: 'Boats', type: 'bar', values: series }, { name: 'Fish', type: 'line', values: other }] } })`,
  }),
  chart('chartist', {
    load: ['chartist/dist/index.css', 'chartist/dist/index.umd.js'],
    draw: `new Chartist.BarChart(box, { labels: months, series: [series, other] }, { height: 480 })`,
  }),
  chart('dygraphs', {
    load: ['dygraphs/dist/dygraph.min.css', 'dygraphs/dist/dygraph.min.js'],
    draw: `new Dygraph(box, series.map((value, i) => [i, value, other[i]]), { labels: ['x', 'Boats', 'Fish'], width: 1100, height: 480 })`,
  }),
  chart('g2', {
    load: ['@antv/g2/dist/g2.min.js'],
    draw: `const g2 = new G2.Chart({ container: box, width: 1100, height: 480 }); g2.interval().data(rows).encode('x', 'month').encode('y', 'value').animate('enter', { type: 'growInY', duration: 1200 }); g2.render()`,
  }),
  chart('lightweight-charts', {
    load: ['lightweight-charts/dist/lightweight-charts.standalone.production.js'],
    draw: `const c = LightweightCharts.createChart(box, { width: 1100, height: 480 }); c.addSeries(LightweightCharts.AreaSeries).setData(series.map((value, i) => ({ time: '2026-' + String(i + 1).padStart(2, '0') + '-01', value })))`,
  }),
  chart('recharts', {
    load: [
      'react/umd/react.production.min.js',
      'react-dom/umd/react-dom.production.min.js',
      'prop-types/prop-types.min.js',
      'recharts/umd/Recharts.js',
    ],
    draw: `const h = React.createElement, R = Recharts; ReactDOM.createRoot(box).render(h(R.BarChart, { width: 1100, height: 480, data: rows }, h(R.XAxis, { dataKey: 'month' }), h(R.YAxis), h(R.Tooltip), h(R.Bar, { dataKey: 'value', fill: '#b8452e' }), h(R.Bar, { dataKey: 'other', fill: '#264653' })))`,
  }),
  chart('plot', {
    load: ['d3/dist/d3.min.js', '@observablehq/plot/dist/plot.umd.min.js'],
    draw: `box.append(Plot.plot({ width: 1100, height: 480, marks: [Plot.barY(rows, { x: 'month', y: 'value', sort: null }), Plot.ruleY([0])] }))`,
  }),
  chart('toast-chart', {
    load: ['@toast-ui/chart/dist/toastui-chart.min.css', '@toast-ui/chart/dist/toastui-chart.min.js'],
    draw: `toastui.Chart.columnChart({ el: box, data: { categories: months, series: [{ name: 'Boats', data: series }, { name: 'Fish', data: other }] }, options: { chart: { width: 1100, height: 480 } } })`,
  }),
  chart('flot', {
    load: ['jquery-3/dist/jquery.min.js', 'flot/dist/es5/jquery.flot.js'],
    draw: `box.style.width = '1100px'; $.plot(box, [series.map((value, i) => [i, value]), other.map((value, i) => [i, value])])`,
  }),
  page('graphics', 'cytoscape', {
    load: ['cytoscape/dist/cytoscape.min.js'],
    run: both(
      `cytoscape({ container: box, elements: Array.from({ length: 30 }, (_, id) => ({ data: { id } })).concat(Array.from({ length: 29 }, (_, i) => ({ data: { source: i + 1, target: i >> 1 } }))), layout: { name: 'breadthfirst', animate: true, animationDuration: 900 } })`,
    ),
  }),
  page('graphics', 'mermaid', {
    load: ['mermaid/dist/mermaid.min.js'],
    body: `<main><h1>How a boat comes in</h1><pre class="mermaid">flowchart LR\nA[Sea]-->B{Tide}\nB-->|high|C[Harbor]\nB-->|low|D[Wait]\nD-->B</pre>${text(8)}<pre class="mermaid">sequenceDiagram\nBoat->>Keeper: asks\nKeeper-->>Boat: answers</pre></main>`,
    run: `mermaid.initialize({ startOnLoad: false }); await mermaid.run()`,
  }),
  page('graphics', 'vis-network', {
    load: ['vis-network/standalone/umd/vis-network.min.js'],
    run: both(
      `new vis.Network(box, { nodes: Array.from({ length: 20 }, (_, id) => ({ id, label: 'Pier ' + id })), edges: Array.from({ length: 19 }, (_, i) => ({ from: i + 1, to: i >> 1 })) }, { layout: { randomSeed: 4 } })`,
    ),
  }),
  page('graphics', 'sigma', {
    load: ['graphology/dist/graphology.umd.min.js', 'sigma/dist/sigma.min.js'],
    run: both(
      `const graph = new graphology.Graph(); for (let i = 0; i < 30; i++) graph.addNode(i, { label: 'Pier ' + i, x: Math.cos(i), y: Math.sin(i * 1.3), size: 9, color: '#b8452e' }); for (let i = 1; i < 30; i++) graph.addEdge(i, i >> 1); new Sigma(graph, box)`,
    ),
  }),
  page('graphics', 'three', {
    imports: { three: 'three/build/three.module.js' },
    moves: true,
    body: `<main><h1>A cube</h1><div id="first" class="box"></div>${text(6)}</main>`,
    run: `const THREE = await import('three'); const scene = new THREE.Scene(), camera = new THREE.PerspectiveCamera(50, 2, 0.1, 100); camera.position.z = 4
    const gl = new THREE.WebGLRenderer({ antialias: true }); gl.setSize(1000, 500); first.append(gl.domElement); const cube = new THREE.Mesh(new THREE.BoxGeometry(), new THREE.MeshNormalMaterial()); scene.add(cube); gl.setAnimationLoop((time) => { cube.rotation.set(time / 900, time / 700, 0); gl.render(scene, camera) })`,
  }),
  page('graphics', 'babylon', {
    load: ['babylonjs/babylon.js'],
    body: `<main><h1>Spheres</h1><canvas id="first" width="1000" height="500"></canvas>${text(6)}</main>`,
    run: `const engine = new BABYLON.Engine(first), scene = new BABYLON.Scene(engine); new BABYLON.ArcRotateCamera('c', 1, 1, 9, BABYLON.Vector3.Zero(), scene); new BABYLON.HemisphericLight('l', new BABYLON.Vector3(0, 1, 0), scene)
    for (let i = -2; i < 3; i++) BABYLON.MeshBuilder.CreateSphere('s' + i, {}, scene).position.x = i * 1.4; engine.runRenderLoop(() => scene.render())`,
  }),
  page('graphics', 'pixi', {
    load: ['pixi.js/dist/pixi.min.js'],
    body: `<main><h1>Shapes</h1><div id="first"></div>${text(6)}</main>`,
    run: `const app = new PIXI.Application(); await app.init({ width: 1000, height: 500, background: '#264653' }); first.append(app.canvas); for (let i = 0; i < 12; i++) app.stage.addChild(new PIXI.Graphics().circle(60 + i * 80, 250, 36).fill(i % 2 ? '#e9c46a' : '#e76f51'))`,
  }),
  page('graphics', 'p5', {
    load: ['p5/lib/p5.min.js'],
    body: `<main><h1>Drawn in steps</h1><div id="first"></div>${text(6)}</main>`,
    run: `new p5((p) => { p.setup = () => { p.createCanvas(1000, 500); p.background(240) }; p.draw = () => { p.circle(40 + p.frameCount * 20, 250, 120); if (p.frameCount > 45) p.noLoop() } }, first)`,
  }),
  page('graphics', 'matter', {
    load: ['matter-js/build/matter.min.js'],
    moves: true,
    body: `<main><h1>Falling boxes</h1><div id="first"></div>${text(6)}</main>`,
    run: `const { Engine, Render, Runner, Bodies, Composite } = Matter, engine = Engine.create(), render = Render.create({ element: first, engine, options: { width: 1000, height: 500, wireframes: false } })
    Composite.add(engine.world, [Bodies.rectangle(500, 490, 1000, 20, { isStatic: true }), ...Array.from({ length: 8 }, (_, i) => Bodies.rectangle(150 + i * 100, 60, 60, 60))]); Render.run(render); Runner.run(Runner.create(), engine)`,
  }),
  page('graphics', 'konva', {
    load: ['konva/konva.min.js'],
    body: `<main><h1>A stage</h1><div id="first"></div>${text(6)}</main>`,
    run: `const stage = new Konva.Stage({ container: first, width: 1000, height: 500 }), layer = new Konva.Layer(); stage.add(layer); series.forEach((value, i) => { const bar = new Konva.Rect({ x: i * 80, y: 480, width: 60, height: 0, fill: '#2a9d8f' }); layer.add(bar); bar.to({ y: 480 - value * 12, height: value * 12, duration: 0.8 }) })`,
  }),
  page('graphics', 'two', {
    load: ['two.js/build/two.min.js'],
    body: `<main><h1>Vectors</h1><div id="first"></div>${text(6)}</main>`,
    run: `const two = new Two({ width: 1000, height: 500 }).appendTo(first); series.forEach((value, i) => { two.makeCircle(60 + i * 80, 250, value * 2).fill = '#e9c46a' }); two.update()`,
  }),
  page('graphics', 'zdog', {
    load: ['zdog/dist/zdog.dist.min.js'],
    moves: true,
    body: `<main><h1>Round shapes</h1><canvas id="first" width="1000" height="500"></canvas>${text(6)}</main>`,
    run: `const i = new Zdog.Illustration({ element: first, zoom: 4 }); new Zdog.Ellipse({ addTo: i, diameter: 60, stroke: 14, color: '#b8452e' }); new Zdog.Box({ addTo: i, width: 30, height: 30, depth: 30, stroke: false, color: '#2a9d8f', topFace: '#e9c46a' }); (function turn() { i.rotate.y += 0.02; i.updateRenderGraph(); requestAnimationFrame(turn) })()`,
  }),
]

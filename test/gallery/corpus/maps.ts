import type { WrittenPage } from './page.ts'
import { text } from './pieces.ts'

const body = `<main><h1>The harbor from above</h1><div id="map" class="box"></div>${text(10)}<h2>And again</h2><div id="second" class="box"></div>${text(4)}</main>`
const short = '<main><h1>The harbor from above</h1><div id="map" style="height:640px"></div></main>'
const map = (name: string, rest: Omit<WrittenPage, 'name' | 'kind' | 'body'> & { body?: string }): WrittenPage => ({
  name,
  kind: 'map',
  body,
  ...rest,
})
const each = (draw: string): string => `for (const box of document.querySelectorAll('#map, #second')) { ${draw} }`

const leaflet = (run: string): string =>
  each(`const map = L.map(box).setView([48.2, 16.37], 12); L.tileLayer('/tile/{z}/{x}/{y}.png', { maxZoom: 19 }).addTo(map); ${run}`)
const LEAFLET = { load: ['leaflet/dist/leaflet.css', 'leaflet/dist/leaflet.js'] }
const OPENLAYERS = { load: ['ol/ol.css', 'ol/dist/ol.js'] }
const TILES = each(
  `new ol.Map({ target: box, layers: [new ol.layer.Tile({ source: new ol.source.XYZ({ url: '/slow/60/tile/{z}/{x}/{y}.png' }) })], view: new ol.View({ center: ol.proj.fromLonLat([16.37, 48.2]), zoom: 12 }) })`,
)
const MAPLIBRE = { load: ['maplibre-gl/dist/maplibre-gl.css'], imports: { maplibre: 'maplibre-gl/dist/maplibre-gl.mjs' } }
const RASTER = `{ version: 8, sources: { tiles: { type: 'raster', tiles: [location.origin + '/tile/{z}/{x}/{y}.png'], tileSize: 256 } }, layers: [{ id: 'tiles', type: 'raster', source: 'tiles' }] }`
const VECTOR = `{ version: 8, sources: { land: { type: 'geojson', data: land } }, layers: [{ id: 'sea', type: 'background', paint: { 'background-color': '#bcd' } }, { id: 'land', type: 'fill', source: 'land', paint: { 'fill-color': '#7a5' } }] }`
const LAND = `const world = await (await fetch('/npm/world-atlas/countries-110m.json')).json(); const land = topojson.feature(world, world.objects.countries);`
const TOPOJSON = 'topojson-client/dist/topojson-client.min.js'

export const maps: readonly WrittenPage[] = [
  map('leaflet', { ...LEAFLET, run: leaflet(`L.marker([48.2, 16.37]).addTo(map).bindPopup('The pier').openPopup()`) }),
  map('leaflet-fly', { ...LEAFLET, body: short, run: leaflet(`map.flyTo([48.25, 16.45], 14, { duration: 1.2 })`) }),
  map('leaflet-cluster', {
    load: [
      ...LEAFLET.load,
      ...['MarkerCluster.css', 'MarkerCluster.Default.css', 'leaflet.markercluster.js'].map((name) => `leaflet.markercluster/dist/${name}`),
    ],
    run: leaflet(
      `const group = L.markerClusterGroup(); for (let i = 0; i < 80; i++) group.addLayer(L.marker([48.15 + (i * 7 % 40) / 400, 16.3 + (i * 11 % 60) / 400])); map.addLayer(group)`,
    ),
  }),
  map('leaflet-heat', {
    ...LEAFLET,
    load: [...LEAFLET.load, 'leaflet.heat/dist/leaflet-heat.js'],
    run: leaflet(
      `L.heatLayer(Array.from({ length: 120 }, (_, i) => [48.15 + (i * 7 % 40) / 400, 16.3 + (i * 11 % 60) / 400, 0.8])).addTo(map)`,
    ),
  }),
  map('leaflet-countries', {
    ...LEAFLET,
    load: [...LEAFLET.load, TOPOJSON],
    run: `${LAND} ${each(`L.geoJSON(land, { style: { weight: 1, color: '#b8452e' } }).addTo(L.map(box).setView([30, 10], 2))`)}`,
  }),
  map('openlayers', { ...OPENLAYERS, run: TILES }),
  map('openlayers-short', { ...OPENLAYERS, body: short, run: TILES }),
  map('openlayers-vector', {
    ...OPENLAYERS,
    load: [...OPENLAYERS.load, TOPOJSON],
    run: `${LAND} ${each(`const features = new ol.format.GeoJSON().readFeatures(land, { featureProjection: 'EPSG:3857' }); new ol.Map({ target: box, layers: [new ol.layer.Vector({ source: new ol.source.Vector({ features }) })], view: new ol.View({ center: [0, 3e6], zoom: 2 }) })`)}`,
  }),
  map('maplibre', {
    ...MAPLIBRE,
    run: `const maplibre = await import('maplibre'); ${each(`new maplibre.Map({ container: box, style: ${RASTER}, center: [16.37, 48.2], zoom: 11 })`)}`,
  }),
  map('maplibre-vector', {
    ...MAPLIBRE,
    load: [...MAPLIBRE.load, TOPOJSON],
    body: short,
    run: `${LAND} const maplibre = await import('maplibre'); ${each(`new maplibre.Map({ container: box, style: ${VECTOR}, center: [10, 30], zoom: 1.5 })`)}`,
  }),
  map('jsvectormap', {
    load: ['jsvectormap/dist/jsvectormap.min.css', 'jsvectormap/dist/jsvectormap.min.js', 'jsvectormap/dist/maps/world.js'],
    run: each(`new jsVectorMap({ selector: '#' + box.id, map: 'world', markers: [{ name: 'Pier', coords: [48.2, 16.4] }] })`),
  }),
  map('d3-geo', {
    load: ['d3/dist/d3.min.js', TOPOJSON],
    run: `${LAND} ${each(`d3.select(box).append('svg').attr('width', 1100).attr('height', 510).selectAll('path').data(land.features).join('path').attr('fill', '#ccc').attr('stroke', '#fff').attr('d', d3.geoPath(d3.geoNaturalEarth1().fitSize([1100, 510], land))).transition().delay((_, i) => i * 5).attr('fill', '#2a9d8f')`)}`,
  }),
  map('globe', {
    load: ['globe.gl/dist/globe.gl.min.js', TOPOJSON],
    body: short,
    run: `${LAND} ${each(`new Globe(box).width(1100).height(640).backgroundColor('#013').polygonsData(land.features).polygonCapColor(() => '#2a9d8f')`)}`,
  }),
]

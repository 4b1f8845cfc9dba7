<?xml version="1.0" encoding="UTF-8"?>
<root versionMajor="1" versionMinor="6">
  <kernel name="{{ v.Name|req }}" language="ip_c" vlnv="{{ v.VLNV|req }}" attributes="" preferredWorkGroupSizeMultiple="0" workGroupSize="1" interrupt="{% if v.Interrupt %}true{% else %}false{% endif %}" hwControlProtocol="{{ v.Protocol|req }}">
    <ports>
{%- for p in v.Ports %}
      <port name="{{ p.Name|req }}" mode="{{ p.Mode|req }}"{% if p.Range %} range="{{ p.Range|req }}"{% endif %} dataWidth="{{ p.Bits|req }}" portType="{{ p.Kind|req }}"{% if p.Range %} base="0x0"{% endif %}/>
{%- endfor %}
    </ports>
    <args>
{%- for a in v.Args %}
      <arg name="{{ a.Name|req }}" addressQualifier="{{ a.Qualifier|req }}" id="{{ a.ID|req }}" port="{{ a.Port|req }}" size="{{ a.Bytes|req }}" offset="{{ a.Offset|req }}" hostOffset="0x0" hostSize="{{ a.Bytes|req }}" type="{{ a.Type|req }}"/>
{%- endfor %}
    </args>
  </kernel>
</root>
